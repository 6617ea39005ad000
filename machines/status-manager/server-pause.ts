import { backOffMs, spread } from '../values/back-off.ts';
import type { BackOffRange } from '../values/back-off.ts';

/** An API server that is back is noticed within seconds even if nobody tells. */
const PAUSES = { firstMs: 200, maxMs: 4_000 };

/**
 * Pause of all requests while the API server is away: one request at a time finds out whether it is back, instead of
 * one for each pod. Plain JSON.
 */
export interface ServerPause {
  /** In a row. */
  failures: number;
  /** Ms since the epoch; no request before. */
  until: number;
}

/** The server answers. */
export const NO_PAUSE: ServerPause = { failures: 0, until: 0 };

/** Is the server away? */
export function isAway({ failures }: ServerPause): boolean {
  return failures > 0;
}

/** The server did not answer at `at`. @param askedMs what it asked to wait for, ms @param chance in [0, 1) */
export function longerPause(pause: ServerPause, at: number, askedMs: number, chance: number): ServerPause {
  // Requests that were under way together are one failure.
  if (isAway(pause) && pause.until > at) return pause;
  const failures = pause.failures + 1;
  return { failures, until: at + Math.max(askedMs, spreadBackOff(failures, PAUSES, chance)) };
}

/** The wait after so many failures in a row, ms, give or take a quarter, so that nodes do not call in step; `chance` is in [0, 1). */
export function spreadBackOff(failures: number, range: BackOffRange, chance: number): number {
  return spread(backOffMs(failures, range), 0.25, chance);
}
