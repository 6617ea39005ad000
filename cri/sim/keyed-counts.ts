/** Counts by key. The keys longest unused are forgotten above `limit`, so that memory stays flat. */
export class KeyedCounts {
  readonly #counts = new Map<string, number>();
  readonly #limit: number;

  constructor(limit = 50_000) {
    this.#limit = limit;
  }

  /** The count before this call; each call adds one. */
  next(key: string): number {
    const count = this.get(key);
    this.#counts.delete(key);
    this.#counts.set(key, count + 1);
    if (this.#counts.size > this.#limit) {
      for (const oldest of this.#counts.keys()) {
        this.#counts.delete(oldest);
        break;
      }
    }
    return count;
  }

  get(key: string): number {
    return this.#counts.get(key) ?? 0;
  }
}
