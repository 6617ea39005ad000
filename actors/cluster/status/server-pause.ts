import { backOffMs, spread } from '../../../machines/values/back-off.ts';
import type { BackOffRange } from '../../../machines/values/back-off.ts';
import { ApiStatusError } from '../api/api-client.ts';

/** An API server that is back is noticed within seconds even if nobody tells. */
const PAUSES = { firstMs: 200, maxMs: 4_000 };
/** Nobody waits so long for a request: the clock was set back since, ms. */
export const TOO_LONG_MS = 600_000;

/** The wait after so many failures in a row, ms, give or take a quarter, so that nodes do not call in step. */
export function spreadBackOffMs(failures: number, range: BackOffRange): number {
  return spread(backOffMs(failures, range), 0.25, Math.random());
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
    this.until = now + Math.max(asked, spreadBackOffMs(this.failures, PAUSES));
  }

  over(): void {
    this.failures = 0;
    this.until = 0;
  }
}
