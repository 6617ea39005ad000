/** Delay before the first restart, the longest delay, and how long a run must last to start over; all in ms. */
export const RESTART_BACK_OFF = { firstMs: 100, longestMs: 30_000, resetAfterMs: 60_000 } as const;

/**
 * Delay before the next restart, from the last delay (0 = none yet) and how long the daemon ran: doubling from 0.1 s
 * to 30 s, from the start again after a run of a minute.
 */
export function nextRestartDelay(lastDelayMs: number, ranMs: number): number {
  if (lastDelayMs === 0 || ranMs >= RESTART_BACK_OFF.resetAfterMs) return RESTART_BACK_OFF.firstMs;
  return Math.min(lastDelayMs * 2, RESTART_BACK_OFF.longestMs);
}
