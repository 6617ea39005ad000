import { REAL_TIME } from './sim-time.ts';
import type { SimTime } from './sim-time.ts';

/**
 * CRI timestamps: nanoseconds since the epoch as decimal strings. Each is later than the one before, so
 * "newest first" is well defined even for what is created in the same millisecond.
 */
export class NanoClock {
  readonly #time: Pick<SimTime, 'now'>;
  #ms = 0;
  #count = 0;

  constructor(time: Pick<SimTime, 'now'> = REAL_TIME) {
    this.#time = time;
  }

  /** The present, strictly after every earlier answer. */
  now(): string {
    const ms = this.#time.now();
    if (ms > this.#ms) {
      this.#ms = ms;
      this.#count = 0;
    } else {
      this.#count++;
      if (this.#count > 999_999) {
        this.#ms++;
        this.#count = 0;
      }
    }
    return String(this.#ms) + String(this.#count).padStart(6, '0');
  }
}

/** Milliseconds from a CRI timestamp. */
export function nanosToMs(nanos: string): number {
  return nanos === '0' ? 0 : Number(nanos.slice(0, -6));
}
