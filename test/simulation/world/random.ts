import { fnv32a, fnv32aSeeded, mixed } from '../../../machines/values/hash.ts';

/** Draws from one seed (mulberry32). `fork` gives a stream of its own, so that one part's draws do not move another's. */
export class Random {
  private state: number;
  private readonly seed: number;

  constructor(seed: number) {
    this.seed = seed >>> 0;
    this.state = this.seed;
  }

  /** In [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** A whole number in [min, max]. */
  between(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  /** True so often. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[Math.floor(this.next() * choices.length)] ?? choices[0];
  }

  /** One of few or none; undefined of an empty list. */
  pickAny<T>(choices: readonly T[]): T | undefined {
    return choices[Math.floor(this.next() * choices.length)];
  }

  fork(name: string): Random {
    return new Random(hashOf(name, this.seed));
  }
}

/** FNV-1a of a text, mixed (murmur3's finalizer). */
export function hashOf(text: string, seed = 0): number {
  return mixed(fnv32a(text, fnv32aSeeded(seed)));
}
