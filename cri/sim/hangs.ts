import type { CallContext } from './call-context.ts';

/** The calls that hang now, so that a test can let them go. */
export class Hangs {
  readonly #held = new Set<() => void>();

  /** Holds the call for `ms` (undefined: for ever), until it is released or its caller goes. */
  async hold(call: CallContext, ms: number | undefined): Promise<void> {
    await call.until((done) => {
      this.#held.add(done);
      return () => this.#held.delete(done);
    }, ms);
  }

  /** Calls held now. */
  get size(): number {
    return this.#held.size;
  }

  /** Lets all go on. */
  release(): void {
    for (const done of [...this.#held]) done();
  }
}
