import type { Clock } from './clock.ts';

/** Less is what a time service slews or steps day by day, and harms nobody, ms. */
const STEP_MS = 2_000;

/** Tells when somebody has set the machine's clock, by comparing it with one that nobody can set. */
export class ClockSteps {
  private readonly clock: Pick<Clock, 'now' | 'steady'>;
  private offset: number;

  constructor(clock: Pick<Clock, 'now' | 'steady'>) {
    this.clock = clock;
    this.offset = clock.now() - clock.steady();
  }

  /** By how much it was set since the last time this was not 0, ms; negative: back. Small steps are kept in mind, so that many of them are noticed, too. */
  next(): number {
    const offset = this.clock.now() - this.clock.steady();
    const byMs = Math.round(offset - this.offset);
    if (Math.abs(byMs) < STEP_MS) return 0;
    this.offset = offset;
    return byMs;
  }
}
