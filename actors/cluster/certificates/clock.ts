import { setTimeout as sleep } from 'node:timers/promises';

/** Time, so that tests need not wait for it. */
export interface Clock {
  /** Ms since 1970. */
  now(): number;
  /** Ms of a clock that nobody can set. */
  steady(): number;
  /** Resolves after so many ms, or at once when the signal is aborted; never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** In [0, 1). */
  random(): number;
}

/** The real one. */
export const realClock: Clock = {
  now: Date.now,
  steady: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
  random: Math.random,
};
