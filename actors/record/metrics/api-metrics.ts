import { counter, gauge, histogram } from './metric-spec.ts';

/** Seconds; client-go's buckets. */
const CALL = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const BYTES = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];
/** Seconds; buckets of the delegated questions. */
const DELEGATED = [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10];
const HOUR = 3600;
const DAY = 24 * HOUR;
/** Seconds that are left of a client certificate. */
const CERTIFICATE = [
  ...[0, HOUR / 2, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 4 * DAY, 7 * DAY],
  ...[30 * DAY, 90 * DAY, 180 * DAY, 360 * DAY],
];

/** What a kubelet tells about its calls to the API server and about those who call it; names and buckets are kubelet's. */
export const apiMetrics = {
  restClientRequests: counter(
    'rest_client_requests_total',
    'Requests to the API server, by status code, method and host.',
    ['code', 'method', 'host'],
  ),
  restClientDuration: histogram(
    'rest_client_request_duration_seconds',
    'Time to the head of the answer of the API server, by verb and host.',
    ['verb', 'host'],
    CALL,
  ),
  restClientRequestSize: histogram(
    'rest_client_request_size_bytes',
    'Size of the body of a request to the API server.',
    ['verb', 'host'],
    BYTES,
  ),
  restClientResponseSize: histogram(
    'rest_client_response_size_bytes',
    'Size of the body of an answer of the API server, watches apart.',
    ['verb', 'host'],
    BYTES,
  ),
  restClientRateLimiter: histogram(
    'rest_client_rate_limiter_duration_seconds',
    'Time that a request to the API server waited for its turn (kubeAPIQPS).',
    ['verb', 'host'],
    CALL,
  ),

  delegatedAuthn: counter('apiserver_delegated_authn_request_total', 'TokenReviews, by HTTP status.', ['code']),
  delegatedAuthnDuration: histogram(
    'apiserver_delegated_authn_request_duration_seconds',
    'Time of a TokenReview, by HTTP status.',
    ['code'],
    DELEGATED,
  ),
  delegatedAuthz: counter('apiserver_delegated_authz_request_total', 'SubjectAccessReviews, by HTTP status.', ['code']),
  delegatedAuthzDuration: histogram(
    'apiserver_delegated_authz_request_duration_seconds',
    'Time of a SubjectAccessReview, by HTTP status.',
    ['code'],
    DELEGATED,
  ),
  tokenCacheRequests: counter(
    'authentication_token_cache_request_total',
    'Bearer tokens of requests: were they known (hit) or not (miss).',
    ['status'],
  ),
  tokenCacheDuration: histogram(
    'authentication_token_cache_request_duration_seconds',
    'Time to know whose a bearer token is.',
    ['status'],
  ),
  tokenCacheFetches: counter(
    'authentication_token_cache_fetch_total',
    'Questions to the API server whose a bearer token is, by their end.',
    ['status'],
  ),
  tokenCacheActive: gauge(
    'authentication_token_cache_active_fetch_count',
    'Questions about bearer tokens that are under way, and requests that wait for them.',
    ['status'],
  ),
  clientCertificate: histogram(
    'apiserver_client_certificate_expiration_seconds',
    "What was left of the life of a client's certificate when it made a request.",
    [],
    CERTIFICATE,
  ),
};
