import type { ApiClientOptions } from '../cluster/api/create-api-client.ts';
import type { AuthObserver } from '../serve/authn/auth-observer.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';

/** Hooks of the API client that feed `rest_client_*`. */
export function restClientHooks(
  metrics: Metrics,
): Required<Pick<ApiClientOptions, 'onRequest' | 'onAnswer' | 'onTurn'>> {
  return {
    onRequest: ({ method, host, code, seconds, bytes }) => {
      metrics.restClientRequests.inc({ code, method, host });
      metrics.restClientDuration.observe({ verb: method, host }, seconds);
      metrics.restClientRequestSize.observe({ verb: method, host }, bytes);
    },
    onAnswer: (method, host, bytes) => metrics.restClientResponseSize.observe({ verb: method, host }, bytes),
    onTurn: (method, host, seconds) => metrics.restClientRateLimiter.observe({ verb: method, host }, seconds),
  };
}

/** Feeds the metrics of authentication and authorization. */
export function authObserver(metrics: Metrics): Required<AuthObserver> {
  for (const status of ['in_flight', 'blocked']) metrics.tokenCacheActive.set({ status }, 0);
  return {
    onTokenReview: (code, seconds) => {
      metrics.delegatedAuthn.inc({ code });
      metrics.delegatedAuthnDuration.observe({ code }, seconds);
    },
    onSubjectAccessReview: (code, seconds) => {
      metrics.delegatedAuthz.inc({ code });
      metrics.delegatedAuthzDuration.observe({ code }, seconds);
    },
    onTokenCacheRequest: (status, seconds) => {
      metrics.tokenCacheRequests.inc({ status });
      metrics.tokenCacheDuration.observe({ status }, seconds);
    },
    onTokenCacheFetch: (status) => metrics.tokenCacheFetches.inc({ status }),
    onTokenCacheActive: (status, delta) => metrics.tokenCacheActive.inc({ status }, delta),
    onClientCertificate: (remainingSeconds) => metrics.clientCertificate.observe(remainingSeconds),
  };
}
