import { draw } from '../../../cri/sim/prng.ts';

/** Draws of one seed, one after the other: the same seed draws the same. */
export class Draws {
  readonly #seed: number;
  readonly #name: string;
  #drawn = 0;

  constructor(seed: number, name: string) {
    this.#seed = seed;
    this.#name = name;
  }

  /** True with this probability, 0 to 1. */
  chance(probability: number): boolean {
    return this.#next() < probability;
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.#next() * (most - least + 1));
  }

  /** One of these. */
  one<T>(choices: readonly T[]): T {
    const chosen = choices[this.between(0, choices.length - 1)];
    if (chosen === undefined) throw new Error('nothing to choose from');
    return chosen;
  }

  /** Some of these in their order, each with this probability. */
  some<T>(choices: readonly T[], probability: number): T[] {
    return choices.filter(() => this.chance(probability));
  }

  /** What `make` makes, with this probability; else nothing, to be spread into an object. */
  maybe(probability: number, make: () => Record<string, unknown>): Record<string, unknown> {
    return this.chance(probability) ? make() : {};
  }

  #next(): number {
    return draw(this.#seed, this.#name, this.#drawn++);
  }
}
