/** A map of at most `size` entries; the one that was read or written longest ago goes first. */
export class Lru<V> {
  private readonly size: number;
  private readonly entries = new Map<string, V>();

  constructor(size: number) {
    this.size = size;
  }

  get(key: string): V | undefined {
    const value = this.entries.get(key);
    if (value === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, value);
    return value;
  }

  set(key: string, value: V): void {
    this.entries.delete(key);
    this.entries.set(key, value);
    if (this.entries.size <= this.size) return;
    const [oldest] = this.entries.keys();
    if (oldest !== undefined) this.entries.delete(oldest);
  }

  get count(): number {
    return this.entries.size;
  }
}
