import { BackOff } from '../../machines/values/back-off.ts';

/** Delay before the first restart, the longest delay, and how long a run must last to start over; all in ms. */
export const RESTART_BACK_OFF = { firstMs: 100, maxMs: 30_000, resetAfterMs: 60_000 } as const;

/** Delays before restarts of a daemon: doubling from 0.1 s to 30 s, from the start again after a run of a minute. */
export class RestartDelay {
  private readonly backOff = new BackOff(RESTART_BACK_OFF);

  /** The delay, ms, after the daemon ran for so long (0: it did not start). */
  next(ranMs: number): number {
    if (ranMs >= RESTART_BACK_OFF.resetAfterMs) this.backOff.reset();
    return this.backOff.next();
  }
}
