const LONGEST_MS = 2_147_483_647;

/** A timer of {@link Timers}. */
export interface Timer {
  cancel(): void;
}

/** The timers of one simulated runtime, so that none survives it. Any length: Node's own overflow after 24.8 days. */
export class Timers {
  readonly #running = new Set<Timer>();
  #stopped = false;

  /** Calls `action` once after `ms`. */
  after(ms: number, action: () => void): Timer {
    let handle: NodeJS.Timeout | undefined;
    const timer: Timer = {
      cancel: () => {
        clearTimeout(handle);
        this.#running.delete(timer);
      },
    };
    if (this.#stopped) return timer;
    const wait = (left: number): void => {
      handle = setTimeout(
        () => {
          if (left > LONGEST_MS) return wait(left - LONGEST_MS);
          this.#running.delete(timer);
          action();
        },
        Math.min(left, LONGEST_MS),
      );
    };
    this.#running.add(timer);
    wait(ms);
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
