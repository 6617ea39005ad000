/**
 * One reading as plain data, as a worker sends it to the main thread, where the registry lives. `op`: `inc` adds `value`
 * to a counter or a gauge, `set` sets a gauge, `observe` adds to a histogram (seconds, as the metric says), `remove`
 * forgets the series with exactly these labels (`value` is ignored): for series of a pod that is gone.
 */
export interface Observation {
  name: string;
  labels: Record<string, string>;
  value: number;
  op: 'inc' | 'set' | 'observe' | 'remove';
}
