/** A collection of the API: group '' is the core group; `namespace` absent for cluster-wide ones or all namespaces. */
export interface ApiResource {
  group: string;
  version: string;
  /** Plural, as in the path: `pods`, `leases`. */
  resource: string;
  namespace?: string;
}

/** One request. The body is plain JSON; the answer too. */
export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  on: ApiResource;
  name?: string;
  /** `status`, `token`, `eviction` ... */
  subresource?: string;
  query?: Record<string, string>;
  body?: unknown;
  /** For PATCH; `application/strategic-merge-patch+json` by default. */
  contentType?: string;
  /** Longest wait for the whole answer in ms, 30 s by default. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** A server that asks to wait for longer is not believed: timers of more than 25 days fire at once. Seconds. */
export const LONGEST_RETRY_AFTER = 3600;

/** An answer that is no success: `metav1.Status` in parts. */
export class ApiStatusError extends Error {
  /** HTTP status, 0 when the server could not be reached. */
  readonly status: number;
  /** `metav1.StatusReason`: `NotFound`, `Conflict`, `Forbidden`, `Expired` ...; `Unreachable` without an answer. */
  readonly reason: string;
  /** Seconds that the server asks to wait, 0 when it says nothing. */
  readonly retryAfterSeconds: number;

  constructor(status: number, reason: string, message: string, retryAfterSeconds = 0, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ApiStatusError';
    this.status = status;
    this.reason = reason;
    this.retryAfterSeconds = Number.isFinite(retryAfterSeconds)
      ? Math.min(Math.max(0, retryAfterSeconds), LONGEST_RETRY_AFTER)
      : 0;
  }
}

/** The server has no such object. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiStatusError && error.status === 404;
}

/** The server has an object of this name already. */
export function isAlreadyExists(error: unknown): boolean {
  return error instanceof ApiStatusError && error.reason === 'AlreadyExists';
}

/** What the parts of the node need of the API server; all of it plain JSON. */
export interface ApiClient {
  /** Sends one request and reads its whole answer. Rejects with {@link ApiStatusError}. */
  request<T>(request: ApiRequest): Promise<T>;
  /** Opens a watch (or another stream of JSON lines); ends when the server or the signal ends it. Rejects like `request`. */
  stream(request: ApiRequest): Promise<AsyncIterable<unknown>>;
  /** Same server and identity with a rate limit of its own: `qps` 0 or less = none. */
  limited(qps: number, burst: number): ApiClient;
  /** Many share this way to the server, and it is full at the moment: what may wait should. Absent: it is nobody else's. */
  isCrowded?(): boolean;
  close(): void;
}
