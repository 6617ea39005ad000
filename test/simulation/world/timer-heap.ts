/** A place in the order of time: first `at`, then `tie`, then `seq`. */
export interface Timed {
  at: number;
  tie: number;
  seq: number;
}

/** A binary heap of what is to happen, the earliest first. */
export class TimerHeap<T extends Timed> {
  private readonly items: T[] = [];

  get size(): number {
    return this.items.length;
  }

  peek(): T | undefined {
    return this.items[0];
  }

  push(item: T): void {
    const { items } = this;
    let i = items.length;
    items.push(item);
    while (i > 0) {
      const up = (i - 1) >> 1;
      const parent = items[up];
      if (parent === undefined || !before(item, parent)) break;
      items[i] = parent;
      i = up;
    }
    items[i] = item;
  }

  pop(): T | undefined {
    const { items } = this;
    const first = items[0];
    const last = items.pop();
    if (first === undefined || last === undefined || items.length === 0) return first;
    let i = 0;
    for (;;) {
      let down = 2 * i + 1;
      let child = items[down];
      const right = items[down + 1];
      if (child === undefined) break;
      if (right !== undefined && before(right, child)) {
        down++;
        child = right;
      }
      if (!before(child, last)) break;
      items[i] = child;
      i = down;
    }
    items[i] = last;
    return first;
  }

  /** Moves everything later by so much, which keeps the order. */
  shift(by: number): void {
    for (const item of this.items) item.at += by;
  }
}

function before(a: Timed, b: Timed): boolean {
  if (a.at !== b.at) return a.at < b.at;
  return a.tie !== b.tie ? a.tie < b.tie : a.seq < b.seq;
}
