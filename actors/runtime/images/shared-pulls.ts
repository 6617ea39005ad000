import {
  askForPull,
  emptyPullQueue,
  leavePull,
  letGo,
  placeInQueue,
  pullHasEnded,
} from '../../../machines/images/pull-queue.ts';
import type { Pull, PullOrder, PullQueue, PullWish } from '../../../machines/images/pull-queue.ts';
import type { PullPlace } from '../../../machines/protocol/pull-place.ts';

/** Carries a pull out. @param pull as it is when it begins @param signal nobody waits for it any more */
export type CarryOut<T> = (pull: Pull, signal: AbortSignal) => Promise<T>;

interface Waiter<T> {
  resolve: (answer: T) => void;
  reject: (error: unknown) => void;
  onTurn: (place: PullPlace | null) => void;
  /** It was told that it has to wait. */
  told: boolean;
}

/** For how long a pull is held that others are about to ask for as well, ms: their timers do not go off at once. */
const HELD_MS = 200;

/** Carries out what the queue of pulls decides, and tells each who waits. */
export class SharedPulls<T> {
  private queue: PullQueue;
  private readonly carryOut: CarryOut<T>;
  private readonly waiters = new Map<string, Waiter<T>>();
  /** What ends each pull that is under way. */
  private readonly ends = new Map<number, AbortController>();

  /** @param limit pulls at once, at most; null = no bound */
  constructor(limit: number | null, carryOut: CarryOut<T>) {
    this.queue = emptyPullQueue(limit);
    this.carryOut = carryOut;
  }

  /**
   * Asks for a pull, and answers what it came to. `onTurn` hears where the asker stands when he has to wait, and null when
   * the pull then begins; of a pull that begins at once, or has begun, it hears nothing.
   */
  ask(wish: PullWish, onTurn: (place: PullPlace | null) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      this.waiters.set(wish.asker, { resolve, reject, onTurn, told: false });
      const { queue, orders } = askForPull(this.queue, wish);
      this.queue = queue;
      this.tellPlace(wish.asker);
      this.follow(orders);
    });
  }

  /** Somebody waits no more: he is answered with this error, and the pull goes on for the others. */
  leave(asker: string, error: Error): void {
    const waiter = this.waiters.get(asker);
    if (waiter === undefined) return;
    this.waiters.delete(asker);
    const { queue, orders } = leavePull(this.queue, asker);
    this.queue = queue;
    waiter.reject(error);
    this.follow(orders);
  }

  /** Where somebody stands who waits for a pull that has not begun, else null. */
  placeOf(asker: string): PullPlace | null {
    return placeInQueue(this.queue, asker);
  }

  private follow(orders: readonly PullOrder[]): void {
    for (const { do: what, pull } of orders) {
      if (what === 'end') this.ends.get(pull.id)?.abort();
      else if (what === 'begin') void this.begin(pull);
      else setTimeout(() => this.letGo(pull.id), HELD_MS);
    }
  }

  private letGo(id: number): void {
    const { queue, orders, askers } = letGo(this.queue, id);
    this.queue = queue;
    for (const asker of askers) this.tellPlace(asker);
    this.follow(orders);
  }

  private tellPlace(asker: string): void {
    const place = placeInQueue(this.queue, asker);
    const waiter = this.waiters.get(asker);
    if (place === null || waiter === undefined) return;
    waiter.told = true;
    waiter.onTurn(place);
  }

  private async begin(pull: Pull): Promise<void> {
    const end = new AbortController();
    this.ends.set(pull.id, end);
    for (const asker of pull.askers) {
      const waiter = this.waiters.get(asker);
      if (waiter?.told === true) waiter.onTurn(null);
    }
    let tell: (waiter: Waiter<T>) => void;
    try {
      const answer = await this.carryOut(pull, end.signal);
      tell = ({ resolve }) => resolve(answer);
    } catch (error) {
      tell = ({ reject }) => reject(error);
    }
    this.ends.delete(pull.id);
    const { queue, orders, askers } = pullHasEnded(this.queue, pull.id);
    this.queue = queue;
    for (const asker of askers) {
      const waiter = this.waiters.get(asker);
      this.waiters.delete(asker);
      if (waiter !== undefined) tell(waiter);
    }
    this.follow(orders);
  }
}
