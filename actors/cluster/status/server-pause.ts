import { spreadBackOff } from '../../../machines/status-manager/server-pause.ts';
import type { BackOffRange } from '../../../machines/values/back-off.ts';
import { ApiStatusError } from '../api/api-client.ts';

/** The wait after so many failures in a row, ms, give or take a quarter, so that nodes do not call in step. */
export function spreadBackOffMs(failures: number, range: BackOffRange): number {
  return spreadBackOff(failures, range, Math.random());
}

/** Is the server as a whole away or overloaded, rather than this one request refused? */
export function isServerTrouble(error: unknown): boolean {
  return error instanceof ApiStatusError && [0, 429, 502, 503, 504].includes(error.status);
}

/** How long the server asks to wait, ms; 0 when it does not say. */
export function askedWaitMs(error: unknown): number {
  return error instanceof ApiStatusError ? error.retryAfterSeconds * 1000 : 0;
}
