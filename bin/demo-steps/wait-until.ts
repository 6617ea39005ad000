import { setTimeout as sleep } from 'node:timers/promises';

/** The user asked the demo to end (Ctrl-C). */
export class Interrupted extends Error {}

/** Something the demo waited for or looked for was not so; the message says what. */
export class DemoFailure extends Error {}

/**
 * Asks every 100 ms until `look` gives something other than null. Throws {@link DemoFailure} with `what()` after
 * `timeoutMs`, {@link Interrupted} when `signal` says so.
 */
export async function waitUntil<T>(
  look: () => Promise<T | null>,
  options: { timeoutMs: number; signal: AbortSignal; what: () => string },
): Promise<T> {
  const until = performance.now() + options.timeoutMs;
  for (;;) {
    if (options.signal.aborted) throw new Interrupted();
    const found = await look();
    if (found !== null) return found;
    if (performance.now() > until) {
      throw new DemoFailure(`${options.what()} (after ${Math.round(options.timeoutMs / 1000)} s)`);
    }
    await sleep(100);
  }
}
