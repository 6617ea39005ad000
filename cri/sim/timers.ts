import { REAL_TIME } from './sim-time.ts';
import type { SimTime, Timer } from './sim-time.ts';

/** The timers of one simulated runtime, so that none survives it. */
export class Timers {
  readonly #running = new Set<Timer>();
  readonly #time: SimTime;
  #stopped = false;

  constructor(time: SimTime = REAL_TIME) {
    this.#time = time;
  }

  /** Calls `action` once after `ms`. */
  after(ms: number, action: () => void): Timer {
    if (this.#stopped) return { cancel: () => undefined };
    const waits = this.#time.after(ms, () => {
      this.#running.delete(timer);
      action();
    });
    const timer: Timer = {
      cancel: () => {
        waits.cancel();
        this.#running.delete(timer);
      },
    };
    this.#running.add(timer);
    return timer;
  }

  /** Timers that have not fired. */
  get size(): number {
    return this.#running.size;
  }

  /** Cancels all, for good. */
  stop(): void {
    this.#stopped = true;
    for (const timer of [...this.#running]) timer.cancel();
  }
}
