/** Ms since the epoch with fractions, on a clock that does not jump. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

/** Number, median, 90th and 99th percentile and maximum, rounded to a tenth. */
export function quantiles(values: readonly number[]): Record<'n' | 'p50' | 'p90' | 'p99' | 'max', number> {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (f: number) =>
    Math.round((sorted[Math.min(sorted.length - 1, Math.floor(f * sorted.length))] ?? 0) * 10) / 10;
  return { n: sorted.length, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

/** `a / b` with two decimals. */
export function ratio(a: number, b: number): number {
  return Math.round((a / b) * 100) / 100;
}
