/** Where a line stands: the segment's number in the {@link SegmentStore}, first byte and bytes (uncompressed). */
export interface Place {
  segment: number;
  offset: number;
  bytes: number;
}

/** One step of a pod as the index holds it. */
export interface StepRow {
  /** When the message came, ms since the epoch. */
  at: number;
  message: Place;
  /** The `step` or `fault` record; null when the agent ended before it was written. */
  outcome: Place | null;
  threw: boolean;
  /** Number of the state after the step (see {@link StateNames}). */
  state: number;
  /** The step whose effect this message answers, -1 for none, and the position of that effect. */
  issuer: number;
  position: number;
}

const COLUMN = {
  at: 0,
  segment: 1,
  offset: 2,
  bytes: 3,
  outSegment: 4,
  outOffset: 5,
  /** Negative for a fault, 0 for none. */
  outBytes: 6,
  state: 7,
  issuer: 8,
  position: 9,
  /** The last step that answers an effect of this one, -1 for none ... */
  answer: 10,
  /** ... and for an answer, the answer before it to the same step. */
  chain: 11,
} as const;
const WIDTH = 12;

/**
 * The steps of one pod as numbers in one array: 96 bytes each, so that 100,000 of them cost 10 MB and not a tenth of a
 * gigabyte of objects. Indices go on when the oldest steps are dropped.
 */
export class StepTable {
  private cells = new Float64Array(8 * WIDTH);
  /** Index of the oldest step that is held, and one behind the newest. */
  first = 0;
  end = 0;
  /** State before `first`. */
  before = 0;

  /** Adds a step; its state is that of the step before until its outcome is known. */
  append(at: number, { segment, offset, bytes }: Place): number {
    const held = this.end - this.first;
    if ((held + 1) * WIDTH > this.cells.length) {
      const wider = new Float64Array(this.cells.length * 2);
      wider.set(this.cells);
      this.cells = wider;
    }
    const state = this.stateBefore(this.end);
    this.cells.set([at, segment, offset, bytes, 0, 0, 0, state, -1, 0, -1, -1], held * WIDTH);
    return this.end++;
  }

  /** What handling the step came to. */
  settle(index: number, { segment, offset, bytes }: Place, state: number | null): void {
    const at = this.cell(index);
    if (at < 0) return;
    this.cells.set([segment, offset, state === null ? -bytes : bytes], at + COLUMN.outSegment);
    this.cells[at + COLUMN.state] = state ?? this.stateBefore(index);
  }

  /** Notes that the step `index` answers the effect at `position` of the step `issuer`. */
  answers(index: number, issuer: number, position: number): void {
    const own = this.cell(index);
    const asked = this.cell(issuer);
    if (own < 0) return;
    this.cells[own + COLUMN.issuer] = issuer;
    this.cells[own + COLUMN.position] = position;
    if (asked < 0) return;
    this.cells[own + COLUMN.chain] = this.cells[asked + COLUMN.answer] ?? -1;
    this.cells[asked + COLUMN.answer] = index;
  }

  /** A step, undefined when it is not held (any more). */
  row(index: number): StepRow | undefined {
    const at = this.cell(index);
    if (at < 0) return undefined;
    const c = (column: number): number => this.cells[at + column] ?? 0;
    const outBytes = c(COLUMN.outBytes);
    const outcome = { segment: c(COLUMN.outSegment), offset: c(COLUMN.outOffset), bytes: Math.abs(outBytes) };
    return {
      at: c(COLUMN.at),
      message: { segment: c(COLUMN.segment), offset: c(COLUMN.offset), bytes: c(COLUMN.bytes) },
      outcome: outBytes === 0 ? null : outcome,
      threw: outBytes < 0,
      state: c(COLUMN.state),
      issuer: c(COLUMN.issuer),
      position: c(COLUMN.position),
    };
  }

  /** The steps that answer effects of this one, by the effects' positions. */
  answersTo(index: number): Map<number, number> {
    const out = new Map<number, number>();
    const at = this.cell(index);
    if (at < 0) return out;
    for (let i = this.cells[at + COLUMN.answer] ?? -1; i >= 0;) {
      const cell = this.cell(i);
      if (cell < 0) break;
      out.set(this.cells[cell + COLUMN.position] ?? 0, i);
      i = this.cells[cell + COLUMN.chain] ?? -1;
    }
    return out;
  }

  /** Number of the state before the step. */
  stateBefore(index: number): number {
    const at = this.cell(index - 1);
    return at < 0 ? this.before : (this.cells[at + COLUMN.state] ?? 0);
  }

  /** When the message of a step came; 0 when it is not held. */
  timeOf(index: number): number {
    const at = this.cell(index);
    return at < 0 ? 0 : (this.cells[at + COLUMN.at] ?? 0);
  }

  /** Index of the last step up to a moment; one before the first when there is none. */
  lastUntil(moment: number): number {
    let low = this.first - 1;
    let high = this.end - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.timeOf(middle) <= moment) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The oldest steps, whose messages stand in segments that are gone, are dropped. True when some were. */
  dropFrom(gone: (segment: number) => boolean): boolean {
    let to = this.first;
    while (to < this.end && gone(this.cells[this.cell(to) + COLUMN.segment] ?? -1)) to++;
    if (to === this.first) return false;
    this.before = this.stateBefore(to);
    this.cells = this.cells.slice((to - this.first) * WIDTH);
    if (this.cells.length === 0) this.cells = new Float64Array(8 * WIDTH);
    this.first = to;
    return true;
  }

  private cell(index: number): number {
    return index < this.first || index >= this.end ? -1 : (index - this.first) * WIDTH;
  }
}

/** Names of states as numbers, for the tables; 0 is ''. */
export class StateNames {
  private readonly names: string[] = [''];
  private readonly numbers = new Map<string, number>([['', 0]]);

  number(name: string): number {
    let number = this.numbers.get(name);
    if (number === undefined) {
      number = this.names.push(name) - 1;
      this.numbers.set(name, number);
    }
    return number;
  }

  name(number: number): string {
    return this.names[number] ?? '';
  }
}
