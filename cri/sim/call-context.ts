import { cancelled } from './rpc-error.ts';
import type { Timers } from './timers.ts';

/** One call in progress: it can wait, and it ends when its caller goes or the runtime does. */
export class CallContext {
  readonly #timers: Timers;
  readonly #onAbort = new Set<() => void>();
  /** How long the script lets this call take, ms. */
  #workMs = 0;
  aborted = false;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** The caller has gone, or the runtime. Everything that waits in this call ends. */
  abort(): void {
    this.aborted = true;
    for (const action of [...this.#onAbort]) action();
    this.#onAbort.clear();
  }

  /** Sets what {@link work} takes. */
  setWork(ms: number): void {
    this.#workMs = ms;
  }

  /** Waits as long as the script says that this call takes, once. */
  async work(): Promise<void> {
    const ms = this.#workMs;
    this.#workMs = 0;
    if (ms > 0) await this.sleep(ms);
  }

  /** Throws Canceled when the call is aborted meanwhile. */
  async sleep(ms: number): Promise<void> {
    await this.until(() => () => {}, ms);
  }

  /**
   * Waits until `subscribe`'s callback is called or `ms` have passed: true when it was called. `subscribe` gives back
   * how to unsubscribe. Throws Canceled when the call is aborted meanwhile.
   */
  until(subscribe: (done: () => void) => () => void, ms?: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (this.aborted) {
        reject(cancelled());
        return;
      }
      const end = (): void => {
        this.#onAbort.delete(abort);
        timer?.cancel();
        unsubscribe();
      };
      const abort = (): void => {
        end();
        reject(cancelled());
      };
      this.#onAbort.add(abort);
      const unsubscribe = subscribe(() => {
        end();
        resolve(true);
      });
      const timer =
        ms === undefined
          ? undefined
          : this.#timers.after(ms, () => {
              end();
              resolve(false);
            });
    });
  }
}
