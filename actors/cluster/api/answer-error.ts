import { ApiStatusError, LONGEST_RETRY_AFTER } from './api-client.ts';
import type { HttpAnswer } from './transport.ts';

/** `metav1.StatusReason` of an HTTP status, for answers whose body is no `Status` (a proxy's page). */
const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** A longer body is no `Status` that the API server made, and to read it as one would hold this thread. */
const LONGEST_STATUS = 512 * 1024;
/** So much of a body that is none is looked at, for the 200 characters that are told. */
const LOOKED_AT = 2048;

/** Makes the error of an answer that is no success out of its body, a `metav1.Status` as a rule. */
export function answerError(status: number, body: string, retryAfter: number | undefined): ApiStatusError {
  let json: unknown;
  try {
    json = body.length > LONGEST_STATUS ? undefined : JSON.parse(body);
  } catch {
    json = undefined;
  }
  const { reason, message, retryAfterSeconds } = statusParts(json, status);
  const text = message ?? `the server answered ${String(status)}${oneLine(body)}`;
  return new ApiStatusError(status, reason ?? reasonOf(status), text, retryAfter ?? retryAfterSeconds);
}

/** The error of a watch's ERROR event, whose object is a `metav1.Status`. */
export function eventError(object: unknown): ApiStatusError {
  const { code, reason, message, retryAfterSeconds } = statusParts(object, 500);
  return new ApiStatusError(code, reason ?? reasonOf(code), message ?? 'the watch failed', retryAfterSeconds);
}

function reasonOf(status: number): string {
  return reasons[status] ?? 'Unknown';
}

/** What of a `metav1.Status` counts, where it has the right type: it may be anything that a proxy made up. */
function statusParts(json: unknown, status: number) {
  const parts = (typeof json === 'object' && json !== null ? json : {}) as Record<string, unknown>;
  const { code, reason, message } = parts;
  const seconds = (parts['details'] as { retryAfterSeconds?: unknown } | null | undefined)?.retryAfterSeconds;
  return {
    code: typeof code === 'number' ? code : status,
    reason: typeof reason === 'string' && reason !== '' ? reason : undefined,
    message: typeof message === 'string' ? message : undefined,
    retryAfterSeconds: typeof seconds === 'number' ? seconds : 0,
  };
}

/** Whole seconds of a Retry-After header, undefined without one; a date is not understood, as in client-go. */
export function retryAfterSeconds(headers: HttpAnswer['headers']): number | undefined {
  const value = headers['retry-after'];
  return typeof value === 'string' && /^\d+$/.test(value) ? Math.min(Number(value), LONGEST_RETRY_AFTER) : undefined;
}

function oneLine(body: string): string {
  const text = body.trimStart().slice(0, LOOKED_AT).trim().replace(/\s+/g, ' ').slice(0, 200);
  return text === '' ? '' : `: ${text}`;
}
