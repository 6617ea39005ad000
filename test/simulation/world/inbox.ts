import type { Owner, VirtualTime } from './virtual-time.ts';

type Item<T> = { value: T } | { end: true } | { error: Error };

/** A stream to one reader: what is put in arrives in order, some time later, as long as the reader lives. */
export class Inbox<T> {
  private readonly time: VirtualTime;
  private readonly owner: Owner;
  private readonly underWay: Item<T>[] = [];
  private readonly arrived: Item<T>[] = [];
  private wake: (() => void) | null = null;
  private lastAt = 0;
  private closed = false;

  constructor(time: VirtualTime, owner: Owner) {
    this.time = time;
    this.owner = owner;
  }

  put(value: T, ms: number): void {
    this.add({ value }, ms);
  }

  end(): void {
    this.add({ end: true }, 0);
    this.closed = true;
  }

  fail(error: Error): void {
    this.add({ error }, 1);
    this.closed = true;
  }

  async *read(): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const item = this.arrived.shift();
      if (item === undefined) {
        await new Promise<void>((resolve) => (this.wake = resolve));
        continue;
      }
      if ('end' in item) return;
      if ('error' in item) throw item.error;
      yield item.value;
    }
  }

  private add(item: Item<T>, ms: number): void {
    if (this.closed) return;
    const { time } = this;
    this.lastAt = Math.max(this.lastAt, time.now + ms);
    this.underWay.push(item);
    const arrive = (): void => {
      const next = this.underWay.shift();
      if (next !== undefined) this.arrived.push(next);
      this.wake?.();
      this.wake = null;
    };
    time.after(this.lastAt - time.now, this.owner, arrive, false);
  }
}
