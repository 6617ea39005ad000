import type { StepLine } from '../../inspector/inspector-api.ts';

/** Steps in one request and one block of the store. */
export const BLOCK = 1000;

/** Steps of one pod, loaded block by block and forgotten when far away: 100,000 steps do not have to be held. */
export class StepStore {
  readonly #blocks = new Map<number, (StepLine | undefined)[]>();
  readonly #wanted = new Set<number>();
  /** Blocks of which all was asked for once, by the total at that time: an answer that brought nothing is not repeated. */
  readonly #tried = new Map<number, number>();
  readonly #most: number;
  total = 0;
  /** Oldest step that can be had. */
  first = 0;

  /** `most`: blocks that are kept. */
  constructor(most = 30) {
    this.#most = most;
  }

  /** The step, when it is loaded. */
  at(index: number): StepLine | undefined {
    return this.#blocks.get(Math.floor(index / BLOCK))?.[index % BLOCK];
  }

  /** Blocks that cover `from` to `to` (inclusive), lack steps, and are not under way; marks them as asked for. */
  take(from: number, to: number): number[] {
    const missing: number[] = [];
    const last = Math.min(to, this.total - 1);
    if (last < this.first) return missing;
    for (let b = Math.floor(Math.max(this.first, from) / BLOCK); b <= Math.floor(last / BLOCK); b++) {
      if (this.#wanted.has(b) || this.nextOf(b) >= this.#endOf(b)) continue;
      this.#wanted.add(b);
      this.#tried.set(b, this.total);
      missing.push(b);
    }
    return missing;
  }

  /** First index that a request for the block has to ask for: what is there is not asked again. */
  nextOf(block: number): number {
    const known = this.#blocks.get(block);
    let index = Math.max(block * BLOCK, this.first);
    while (known?.[index % BLOCK] !== undefined && index < (block + 1) * BLOCK) {
      index++;
      if (index % BLOCK === 0) break;
    }
    return index;
  }

  /** The block was asked for at the present total and nothing more of it is to be had, or it is complete. */
  isTried(block: number): boolean {
    return this.#tried.get(block) === this.total || this.nextOf(block) >= this.#endOf(block);
  }

  /** Takes in what a request brought. `near`: the index that is looked at; blocks far from it are forgotten first. */
  put(block: number, steps: readonly StepLine[], near: number): void {
    this.#wanted.delete(block);
    const known = this.#blocks.get(block) ?? [];
    for (const step of steps) {
      const within = step.index - block * BLOCK;
      if (within >= 0 && within < BLOCK) known[within] = step;
    }
    this.#blocks.set(block, known);
    if (this.#blocks.size <= this.#most) return;
    const here = near / BLOCK;
    const far = [...this.#blocks.keys()].sort((a, b) => Math.abs(b - here) - Math.abs(a - here))[0];
    if (far !== undefined && far !== block) this.#blocks.delete(far);
  }

  /** Notes in steps that are loaded who answered them: an outcome comes after its effect was told. */
  settle(step: StepLine): void {
    const asked = step.answers === undefined ? undefined : this.at(step.answers.index);
    const effect = asked?.effects.find((e) => e.key === step.answers?.key && e.key !== '');
    if (effect !== undefined) effect.answeredBy ??= step.index;
  }

  /** A request failed: the block may be asked for again. */
  release(block: number): void {
    this.#wanted.delete(block);
    this.#tried.delete(block);
  }

  /** All loaded steps in order. */
  *loaded(): Generator<StepLine> {
    for (const b of [...this.#blocks.keys()].sort((a, c) => a - c)) {
      for (const step of this.#blocks.get(b) ?? []) if (step !== undefined) yield step;
    }
  }

  #endOf(block: number): number {
    return Math.min((block + 1) * BLOCK, this.total);
  }
}
