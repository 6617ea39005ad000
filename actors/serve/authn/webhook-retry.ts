import { setTimeout as delay } from 'node:timers/promises';
import { ApiStatusError } from '../../cluster/api/api-client.ts';

/** kubelet's DefaultAuthWebhookRetryBackoff: 5 tries with 0.5 s, 0.75 s ... between them, each up to 20 % longer. */
const BACKOFF = { firstMs: 500, factor: 1.5, jitter: 0.2, tries: 5 };

/** Waits; rejects when the signal ends first. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** The real {@link Sleep}. */
const realSleep: Sleep = (ms, signal) => delay(ms, undefined, { signal, ref: false });

/** One request to the API server that is counted: HTTP status as text, or `<error>` without an answer. */
export type OnAnswer = ((code: string, seconds: number) => void) | undefined;

/**
 * Makes a review, again after failures that may pass: a reset connection, 500, 504, 429, or an answer that asks to come
 * back later (`DefaultShouldRetry`). Rejects with the last failure. A create that succeeds counts as 201.
 */
export async function withWebhookRetry<T>(
  review: () => Promise<T>,
  signal: AbortSignal,
  onAnswer: OnAnswer,
  sleep: Sleep = realSleep,
): Promise<T> {
  let waitMs = BACKOFF.firstMs;
  for (let left = BACKOFF.tries - 1; ; left--) {
    const started = performance.now();
    const seconds = (): number => (performance.now() - started) / 1000;
    try {
      const answer = await review();
      onAnswer?.('201', seconds());
      return answer;
    } catch (error) {
      const status = error instanceof ApiStatusError ? error.status : 0;
      onAnswer?.(status === 0 ? '<error>' : String(status), seconds());
      if (left === 0 || signal.aborted || !mayPass(error)) throw error;
      try {
        await sleep(waitMs * (1 + Math.random() * BACKOFF.jitter), signal);
      } catch {
        throw error;
      }
      waitMs *= BACKOFF.factor;
    }
  }
}

function mayPass(error: unknown): boolean {
  if (!(error instanceof ApiStatusError)) return false;
  if (error.status === 0) return isReset(error.cause);
  if (error.retryAfterSeconds > 0 || error.reason === 'ServerTimeout') return true;
  if (error.status === 429 || error.reason === 'TooManyRequests') return true;
  return error.reason === 'InternalError' || error.reason === 'Timeout';
}

/** What Node says of a connection, or of one stream of it, that ended under a request. Go's transport asks anew itself. */
const BROKEN: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ERR_HTTP2_GOAWAY_SESSION',
  'ERR_HTTP2_INVALID_SESSION',
  'ERR_HTTP2_SESSION_ERROR',
  'ERR_HTTP2_STREAM_CANCEL',
  'ERR_HTTP2_STREAM_ERROR',
]);

/** A connection that broke or was given up (no answer to a ping: Go's "client connection lost"), over whatever errors wrap it. */
function isReset(error: unknown): boolean {
  for (let next = error, depth = 0; next instanceof Error && depth < 5; next = next.cause, depth++) {
    if ('code' in next && BROKEN.has(next.code)) return true;
    if (next.message.startsWith('the connection was ')) return true;
  }
  return false;
}
