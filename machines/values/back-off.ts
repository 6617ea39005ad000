/** First and longest wait before another try, ms. */
export interface BackOffRange {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** The wait after so many failures in a row, ms: after the first one `firstMs`, twice as long after each more, never above `maxMs`. */
export function backOffMs(failures: number, { firstMs, maxMs }: BackOffRange): number {
  // 2 ** 40 first waits are longer than any range; a greater power might be no number.
  return Math.min(maxMs, firstMs * 2 ** Math.min(Math.max(0, failures - 1), 40));
}

/** A wait made longer or shorter by up to `share` of it, so that many who wait do not come in step; `chance` is in [0, 1). */
export function spread(ms: number, share: number, chance: number): number {
  return ms * (1 - share + 2 * share * chance);
}

/** Counts the failures in a row of one thing that is tried again and again. */
export class BackOff {
  private readonly range: BackOffRange;
  private failures = 0;

  constructor(range: BackOffRange) {
    this.range = range;
  }

  /** Counts a failure and says how long to wait, ms. */
  next(): number {
    return backOffMs(++this.failures, this.range);
  }

  /** It went well: the next failure is the first one. */
  reset(): void {
    this.failures = 0;
  }
}
