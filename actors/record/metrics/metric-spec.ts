/** One metric as data: what `createMetrics` registers and what observations from workers are checked against. */
export interface MetricSpec<Kind extends MetricKind = MetricKind, Label extends string = string> {
  readonly kind: Kind;
  /** Full Prometheus name. */
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
  /** Upper bounds, histograms only. */
  readonly buckets?: readonly number[];
}

/** The Prometheus types in use. */
export type MetricKind = 'counter' | 'gauge' | 'histogram';

/** Prometheus' own default buckets, which the kubelet uses where it names none (seconds). */
export const DEFAULT_BUCKETS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** `count` bounds, the first `start`, each `factor` times the one before. */
export function exponentialBuckets(start: number, factor: number, count: number): number[] {
  const out = [start];
  while (out.length < count) out.push((out.at(-1) ?? start) * factor);
  return out;
}

/** A value that only grows. */
export function counter<const L extends string = never>(
  name: string,
  help: string,
  labels: readonly L[] = [],
): MetricSpec<'counter', L> {
  return { kind: 'counter', name, help, labels };
}

/** A value that goes up and down. */
export function gauge<const L extends string = never>(
  name: string,
  help: string,
  labels: readonly L[] = [],
): MetricSpec<'gauge', L> {
  return { kind: 'gauge', name, help, labels };
}

/** A distribution. */
export function histogram<const L extends string = never>(
  name: string,
  help: string,
  labels: readonly L[] = [],
  buckets: readonly number[] = DEFAULT_BUCKETS,
): MetricSpec<'histogram', L> {
  return { kind: 'histogram', name, help, labels, buckets };
}
