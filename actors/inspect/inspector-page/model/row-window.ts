/** Rows of a virtual list that are to be drawn. `end` is exclusive. */
export interface RowWindow {
  start: number;
  end: number;
}

/** Rows of equal height that are in view, with some more on either side so that a quick scroll shows no gap. */
export function rowWindow(scrollTop: number, height: number, rowHeight: number, count: number, spare = 8): RowWindow {
  const first = Math.floor(scrollTop / rowHeight);
  const last = Math.ceil((scrollTop + height) / rowHeight);
  return {
    start: Math.max(0, Math.min(first - spare, count)),
    end: Math.max(0, Math.min(last + spare, count)),
  };
}

/**
 * Where to scroll so that rows `top`..`bottom` (px) are in view: the same place when they are, else the shortest way;
 * a far jump puts them in the middle.
 */
export function scrollFor(scrollTop: number, height: number, top: number, bottom: number): number {
  if (top >= scrollTop && bottom <= scrollTop + height) return scrollTop;
  if (Math.abs(top - scrollTop) > 2 * height) return Math.max(0, (top + bottom - height) / 2);
  return top < scrollTop ? top : bottom - height;
}

/** Heights of many rows of which some are not known yet: sums by block, so that 100,000 rows cost nothing. */
export class RowHeights {
  readonly #blockSize: number;
  readonly #guess: number;
  #count = 0;
  #blocks: (number[] | null)[] = [];
  #tops: number[] = [0];

  /** `guess`: px of a row that is not known. */
  constructor(blockSize: number, guess: number) {
    this.#blockSize = blockSize;
    this.#guess = guess;
  }

  /** Sets all: `heightsOf` gives the heights of a block's rows, or null when they are not known. */
  measure(count: number, heightsOf: (block: number) => number[] | null): void {
    this.#count = count;
    this.#blocks = [];
    this.#tops = [0];
    const blocks = Math.ceil(count / this.#blockSize);
    for (let b = 0; b < blocks; b++) {
      const rows = Math.min(this.#blockSize, count - b * this.#blockSize);
      const known = heightsOf(b);
      let height = 0;
      let tops: number[] | null = null;
      if (known === null) height = rows * this.#guess;
      else {
        tops = [];
        for (let i = 0; i < rows; i++) {
          tops.push(height);
          height += known[i] ?? this.#guess;
        }
      }
      this.#blocks.push(tops);
      this.#tops.push((this.#tops[b] ?? 0) + height);
    }
  }

  /** Height of all rows, px. */
  get total(): number {
    return this.#tops.at(-1) ?? 0;
  }

  /** Top of a row, px; that of the end for an index past it. */
  topOf(index: number): number {
    if (index >= this.#count) return this.total;
    const block = Math.floor(index / this.#blockSize);
    const within = index % this.#blockSize;
    return (this.#tops[block] ?? 0) + (this.#blocks[block]?.[within] ?? within * this.#guess);
  }

  /** Row at a height, px. */
  rowAt(y: number): number {
    let low = 0;
    let high = Math.max(0, this.#count - 1);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.topOf(middle) <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
