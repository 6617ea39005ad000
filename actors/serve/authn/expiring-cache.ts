/** A map whose entries end after a time of their own, and which holds at most `limit`: the least used one goes first. */
export class ExpiringCache<V> {
  private readonly entries = new Map<string, { value: V; until: number }>();
  private readonly limit: number;
  private readonly steady: () => number;

  /** @param steady a clock that nobody can set, ms */
  constructor(limit: number, steady: () => number) {
    this.limit = limit;
    this.steady = steady;
  }

  get size(): number {
    return this.entries.size;
  }

  get(key: string): V | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    this.entries.delete(key);
    if (this.steady() >= entry.until) return undefined;
    // Behind the others: the first of the map is the one that was used longest ago.
    this.entries.set(key, entry);
    return entry.value;
  }

  /** Keeps the value for `ttlMs`; 0 or less keeps nothing. */
  set(key: string, value: V, ttlMs: number): void {
    this.entries.delete(key);
    if (ttlMs <= 0) return;
    while (this.entries.size >= this.limit) {
      const oldest = this.entries.keys().next();
      if (oldest.done === true) break;
      this.entries.delete(oldest.value);
    }
    this.entries.set(key, { value, until: this.steady() + ttlMs });
  }
}
