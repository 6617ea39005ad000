import type { Spans } from './spans.ts';

/** One request to the API server as it is traced. */
export interface RequestTrace {
  /** `traceparent` for the server. */
  headers: Record<string, string>;
  /** @param status of the answer; null when there was none, for which `why` is told */
  end(status: number | null, why: string): void;
}

const SCOPE = 'go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp';

/** Client spans of requests, as otelhttp makes them for kubelet: `HTTP GET`. They end with the head of the answer. */
export function requestSpans(spans: Spans): (method: string, url: string) => RequestTrace {
  return (method, url) => {
    const { hostname, port, protocol } = new URL(url);
    const span = spans.begin({
      scope: SCOPE,
      name: `HTTP ${method}`,
      kind: 'client',
      attributes: {
        'http.method': method,
        'http.url': url,
        'net.peer.name': hostname,
        'net.peer.port': Number(port) || (protocol === 'https:' ? 443 : 80),
      },
    });
    return {
      headers: span.headers(),
      end(status, why) {
        if (status !== null) span.set({ 'http.status_code': status });
        span.end(status === null ? why : status >= 400 ? '' : undefined);
      },
    };
  };
}
