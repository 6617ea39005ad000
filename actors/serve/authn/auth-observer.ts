/** Told of what happens, for the metrics that kubelet has about it. Labels and units are those of the metrics. */
export interface AuthObserver {
  /** `apiserver_delegated_authn_request_total` and `_duration_seconds`; `code` is the HTTP status or `<error>`. */
  onTokenReview?(code: string, seconds: number): void;
  /** `apiserver_delegated_authz_request_total` and `_duration_seconds`; `code` is the HTTP status or `<error>`. */
  onSubjectAccessReview?(code: string, seconds: number): void;
  /** `authentication_token_cache_request_total` and `_request_duration_seconds`. */
  onTokenCacheRequest?(status: 'hit' | 'miss', seconds: number): void;
  /** `authentication_token_cache_fetch_total`. */
  onTokenCacheFetch?(status: 'ok' | 'error'): void;
  /** `authentication_token_cache_active_fetch_count`, a gauge: add `delta`. */
  onTokenCacheActive?(status: 'in_flight' | 'blocked', delta: 1 | -1): void;
  /** `apiserver_client_certificate_expiration_seconds`: what is left of the client certificate's life. */
  onClientCertificate?(remainingSeconds: number): void;
}
