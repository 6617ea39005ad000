import { ApiStatusError } from './api-client.ts';
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

/** Makes the error of an answer that is no success out of its body, a `metav1.Status` as a rule. */
export function answerError(status: number, body: string, retryAfter: number | undefined): ApiStatusError {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    json = undefined;
  }
  const parts = (typeof json === 'object' && json !== null ? json : {}) as StatusParts;
  const reason = parts.reason === undefined || parts.reason === '' ? (reasons[status] ?? 'Unknown') : parts.reason;
  const message = parts.message ?? `the server answered ${String(status)}${oneLine(body)}`;
  return new ApiStatusError(status, reason, message, retryAfter ?? parts.details?.retryAfterSeconds ?? 0);
}

/** The error of a watch's ERROR event, whose object is a `metav1.Status`. */
export function eventError(object: unknown): ApiStatusError {
  const parts = (typeof object === 'object' && object !== null ? object : {}) as StatusParts;
  const status = parts.code ?? 500;
  const reason = parts.reason === undefined || parts.reason === '' ? (reasons[status] ?? 'Unknown') : parts.reason;
  return new ApiStatusError(status, reason, parts.message ?? 'the watch failed', parts.details?.retryAfterSeconds ?? 0);
}

interface StatusParts {
  code?: number;
  reason?: string;
  message?: string;
  details?: { retryAfterSeconds?: number };
}

/** Whole seconds of a Retry-After header, undefined without one; a date is not understood, as in client-go. */
export function retryAfterSeconds(headers: HttpAnswer['headers']): number | undefined {
  const value = headers['retry-after'];
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : undefined;
}

function oneLine(body: string): string {
  const text = body.trim().replace(/\s+/g, ' ').slice(0, 200);
  return text === '' ? '' : `: ${text}`;
}
