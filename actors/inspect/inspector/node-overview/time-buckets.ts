const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Widths of a bucket, ms: each a multiple of the one before, so that buckets can be put together. */
const WIDTHS = [
  ...[100, 200, SECOND, 2 * SECOND, 10 * SECOND, 20 * SECOND, MINUTE, 2 * MINUTE, 10 * MINUTE, 20 * MINUTE],
  ...[HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR],
];

/** How values are made and put together. */
export interface BucketKind<T> {
  make: () => T;
  /** Takes a later bucket's value into an earlier one's. */
  merge: (into: T, later: T) => void;
}

/**
 * Values by spans of time of equal width, at most `most` of them: the width grows with the time that is covered, so a
 * week costs as much as a minute. Moments may come in any order, since logs are read one after the other.
 */
export class TimeBuckets<T> {
  private readonly most: number;
  private readonly kind: BucketKind<T>;
  private buckets = new Map<number, T>();
  private low = Infinity;
  private high = -Infinity;
  width = WIDTHS[0] ?? SECOND;

  constructor(most: number, kind: BucketKind<T>) {
    this.most = most;
    this.kind = kind;
  }

  /** Number of the bucket of a moment; it begins at its number times the width. */
  numberOf(at: number): number {
    return Math.floor(at / this.width);
  }

  /** The bucket of a moment. */
  at(moment: number): T {
    this.cover(moment, moment);
    const number = this.numberOf(moment);
    let value = this.buckets.get(number);
    if (value === undefined) {
      value = this.kind.make();
      this.buckets.set(number, value);
    }
    return value;
  }

  /** What there is, by number; undefined where nothing was noted. */
  get(number: number): T | undefined {
    return this.buckets.get(number);
  }

  /** Makes the buckets wide enough for these moments, too. */
  cover(from: number, to: number): void {
    this.low = Math.min(this.low, from);
    this.high = Math.max(this.high, to);
    while (this.numberOf(this.high) - this.numberOf(this.low) >= this.most) this.widen();
  }

  /** Takes out the buckets that end before the moment, oldest first. */
  takeBefore(moment: number): T[] {
    const end = this.numberOf(moment);
    const old = [...this.buckets.keys()].filter((number) => number < end).sort((a, b) => a - b);
    const values = old.flatMap((number) => this.buckets.get(number) ?? []);
    for (const number of old) this.buckets.delete(number);
    this.low = Math.max(this.low, end * this.width);
    return values;
  }

  private widen(): void {
    this.width = WIDTHS.find((width) => width > this.width) ?? this.width * 2;
    const narrow = [...this.buckets].sort(([a], [b]) => a - b);
    const factor = this.width / (WIDTHS.findLast((width) => width < this.width) ?? this.width / 2);
    const wide = new Map<number, T>();
    for (const [number, value] of narrow) {
      const to = Math.floor(number / factor);
      const into = wide.get(to);
      if (into === undefined) wide.set(to, value);
      else this.kind.merge(into, value);
    }
    this.buckets = wide;
  }
}
