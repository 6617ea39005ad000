import { backOffMs } from '../../../machines/values/back-off.ts';
import { ApiStatusError } from '../api/api-client.ts';

/** An error with the `code` that an effect's failure carries. */
export function codedError(code: string, message: string, cause?: unknown): Error & { code: string } {
  return Object.assign(new Error(message, { cause }), { code });
}

/** The `code` of what an asker is told: its own, the API server's reason, or `Unknown`. */
export function withCode(thrown: unknown): Error & { code: string } {
  if (thrown instanceof ApiStatusError)
    return codedError(thrown.reason === '' ? 'Unknown' : thrown.reason, thrown.message, thrown);
  if (thrown instanceof Error) {
    const { code } = thrown as Error & { code?: unknown };
    if (typeof code === 'string') return thrown as Error & { code: string };
    return codedError('Unknown', thrown.message, thrown);
  }
  return codedError('Unknown', String(thrown));
}

/** True for an answer of this HTTP status. */
export function isStatus(thrown: unknown, status: number): thrown is ApiStatusError {
  return thrown instanceof ApiStatusError && thrown.status === status;
}

/** First and longest wait before a forbidden call is tried again, in ms, and for how long in all. */
const FORBIDDEN = { firstMs: 50, maxMs: 1000, totalMs: 3000 };

/**
 * Repeats a call that the Node authorizer forbids: its graph learns of a pod some ms after the node does.
 * Waits 50 ms, then twice as long each time, about three seconds in all; other errors pass at once.
 */
export async function whileForbidden<T>(call: () => Promise<T>, wait: (ms: number) => Promise<unknown>): Promise<T> {
  let waited = 0;
  for (let failures = 1; ; failures++) {
    try {
      return await call();
    } catch (error) {
      if (!isStatus(error, 403) || waited >= FORBIDDEN.totalMs) throw error;
      const ms = backOffMs(failures, FORBIDDEN);
      await wait(ms);
      waited += ms;
    }
  }
}
