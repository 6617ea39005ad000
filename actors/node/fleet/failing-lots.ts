import { draw } from '../../../cri/sim/prng.ts';

/** What {@link FailingLots} is made from. */
export interface FailingLotsOptions {
  /** The machine's own. */
  seed: number;
  /** What the lots are drawn for: the same words draw the same lots. */
  of: readonly string[];
  ids: readonly string[];
  /** How many of them are ill all the time, as the lots have it. */
  unhealthy: number;
}

/** Which devices of a simulated machine are ill: the seed draws an order, and each failure that holds takes more of it. */
export class FailingLots {
  /** Those first that fall ill first. */
  private readonly order: readonly string[];
  private readonly unhealthy: number;
  /** Failures that hold, each with the number of devices that it takes; null: all. */
  private readonly failures: (number | null)[] = [];

  constructor({ seed, of, ids, unhealthy }: FailingLotsOptions) {
    this.unhealthy = unhealthy;
    this.order = ids
      .map((id) => ({ id, lot: draw(seed, ...of, id) }))
      .sort((a, b) => a.lot - b.lot)
      .map(({ id }) => id);
  }

  /** So many more are ill; without a number all of them. */
  fail(count: number | undefined): void {
    this.failures.push(count ?? null);
  }

  /** What {@link fail} did with the same number is over. */
  heal(count: number | undefined): void {
    const place = this.failures.indexOf(count ?? null);
    if (place >= 0) this.failures.splice(place, 1);
  }

  /** Those that are ill now. */
  get ill(): ReadonlySet<string> {
    const { order, unhealthy } = this;
    const failed = this.failures.reduce<number>((sum, each) => sum + (each ?? order.length), 0);
    return new Set(order.slice(0, unhealthy + failed));
  }
}
