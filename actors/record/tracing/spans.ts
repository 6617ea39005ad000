/** Plain options, so that a worker thread can be told to trace as well. */
export interface TracingOptions {
  /** `tracing.endpoint`; undefined: the environment's (`OTEL_EXPORTER_OTLP_ENDPOINT`), else localhost:4317. */
  endpoint: string | undefined;
  /** `tracing.samplingRatePerMillion`: of traces that begin here. Those that have begun elsewhere keep their decision. */
  samplingRatePerMillion: number;
  /** Name of the node: the attribute `host.name` of all spans. */
  hostName: string;
}

/** Values that a span may have. */
export type Attributes = Record<string, string | number | boolean>;

/** What a span begins with. */
export interface SpanStart {
  /** Who makes it, by the name of its package in kubelet: the instrumentation scope. */
  scope: string;
  name: string;
  kind: 'internal' | 'client' | 'server';
  attributes: Attributes;
  /** Begins a trace of its own, also within another span. */
  root?: boolean;
}

/** A span that has begun. */
export interface OpenSpan {
  /** `traceparent` (and `tracestate`) for whom the work is handed on to. */
  headers(): Record<string, string>;
  /** Runs work whose spans are children of this one, also after an `await`. */
  within<T>(work: () => T): T;
  /** Something that happened meanwhile. */
  event(name: string, attributes: Attributes): void;
  set(attributes: Attributes): void;
  /** Ends it; with a text it is an error. `exception` also records it as an event, as Go's RecordError does. */
  end(error?: string, exception?: boolean): void;
}

/** The spans of one thread. */
export interface Spans {
  /** Begins a span below the one that the caller runs within. */
  begin(start: SpanStart): OpenSpan;
  /** Sends what has not been sent; does not reject. */
  stop(): Promise<void>;
}
