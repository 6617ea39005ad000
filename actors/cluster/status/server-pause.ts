import { ApiStatusError } from '../api/api-client.ts';

/** First and longest pause, ms: an API server that is back is noticed within seconds even if nobody tells. */
const FIRST_MS = 200;
const LONGEST_MS = 4_000;
/** Nobody waits so long for a request: the clock was set back since, ms. */
export const TOO_LONG_MS = 600_000;

/** `base` doubled with each failure up to `longest`, give or take a quarter, so that nodes do not call in step. */
export function backOffMs(failures: number, base: number, longest: number): number {
  return Math.min(longest, base * 2 ** Math.max(0, failures - 1)) * (0.75 + Math.random() / 2);
}

/** Is the server as a whole away or overloaded, rather than this one request refused? */
export function isServerTrouble(error: unknown): boolean {
  return error instanceof ApiStatusError && [0, 429, 502, 503, 504].includes(error.status);
}

/**
 * Pause of all requests while the API server is away: one request at a time finds out whether it is back, instead of
 * one for each pod.
 */
export class ServerPause {
  private failures = 0;
  /** Ms since the epoch; no request before. */
  until = 0;

  get away(): boolean {
    return this.failures > 0;
  }

  failed(error: unknown, now: number): void {
    // Requests that were under way together are one failure.
    if (this.away && now < this.until && this.until - now < TOO_LONG_MS) return;
    this.failures++;
    const asked = error instanceof ApiStatusError ? error.retryAfterSeconds * 1000 : 0;
    this.until = now + Math.max(asked, backOffMs(this.failures, FIRST_MS, LONGEST_MS));
  }

  over(): void {
    this.failures = 0;
    this.until = 0;
  }
}
