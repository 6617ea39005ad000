import { AsyncLocalStorage } from 'node:async_hooks';
import { credentials } from '@grpc/grpc-js';
import {
  type Context,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import type { OpenSpan, Spans, SpanStart, TracingOptions } from './spans.ts';

const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER } as const;
/** How long the last spans may take to be sent, ms: a collector that is gone holds no end up. */
const STOP_MS = 2_000;

/**
 * Spans as kubelet makes them: sent by OTLP over gRPC without TLS, in batches, for the service `kubelet`. Loaded only where
 * `tracing` is configured; nothing of it is in memory elsewhere.
 */
export function openSpans(options: TracingOptions, log: Logger): Spans {
  const { endpoint, samplingRatePerMillion, hostName } = options;
  diag.setLogger(
    {
      error: (text) => log.warn({ err: text }, 'Tracing'),
      warn: (text) => log.warn({ err: text }, 'Tracing'),
      ...{ info: () => undefined, debug: () => undefined, verbose: () => undefined },
    },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const exporter = new OTLPTraceExporter({
    ...(endpoint !== undefined && { url: urlOf(endpoint) }),
    credentials: credentials.createInsecure(),
  });
  const rate = Math.min(1, samplingRatePerMillion / 1_000_000);
  const provider = new TracerProvider({
    sampler: new ParentBasedSampler({ root: rate > 0 ? new TraceIdRatioBasedSampler(rate) : new AlwaysOffSampler() }),
    resource: resourceFromAttributes({ 'service.name': 'kubelet', 'host.name': hostName }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const running = new AsyncLocalStorage<Context>();

  return {
    begin({ scope, name, kind, attributes, root = false }: SpanStart): OpenSpan {
      const parent = (root ? undefined : running.getStore()) ?? ROOT_CONTEXT;
      const span = provider.getTracer(scope).startSpan(name, { kind: KINDS[kind], attributes, root }, parent);
      const context = trace.setSpan(parent, span);
      return {
        headers() {
          const { traceId, spanId, traceFlags, traceState } = span.spanContext();
          const flags = (traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, '0');
          const state = traceState?.serialize() ?? '';
          return { traceparent: `00-${traceId}-${spanId}-${flags}`, ...(state !== '' && { tracestate: state }) };
        },
        within: (work) => running.run(context, work),
        event: (what, values) => void span.addEvent(what, values),
        set: (values) => void span.setAttributes(values),
        end(error, exception = false) {
          if (error !== undefined) {
            if (exception) span.recordException(error);
            span.setStatus({ code: SpanStatusCode.ERROR, message: error });
          }
          span.end();
        },
      };
    },
    async stop() {
      let limit: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        limit = setTimeout(resolve, STOP_MS);
      });
      await Promise.race([provider.shutdown().catch((err: unknown) => log.warn({ err }, 'Tracing')), late]);
      clearTimeout(limit);
    },
  };
}

/** As the exporter wants it: gRPC's own names of TCP addresses become URLs, those of sockets stay. */
function urlOf(endpoint: string): string {
  if (endpoint.startsWith('unix')) return endpoint;
  return `http://${endpoint.replace(/^dns:\/\/[^/]*\//, '')}`;
}
