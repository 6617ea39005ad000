import { setTimeout as sleep } from 'node:timers/promises';

/** How a step waits. */
export interface StepLimits {
  timeoutMs: number;
  signal: AbortSignal;
}

/** The user asked the demo to end (Ctrl-C). */
export class Interrupted extends Error {}

/** Aborted by Ctrl-C, or by another signal that asks a program to end; that is said once. From now on none of them ends this process. */
export function interruption(say: (line: string) => void): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (!interrupted.signal.aborted) say('ending, please wait');
      interrupted.abort();
    });
  }
  return interrupted.signal;
}

/** Something the demo waited for or looked for was not so; the message says what. */
export class DemoFailure extends Error {}

/**
 * Asks every 100 ms (or `everyMs`) until `look` gives something other than null. Throws {@link DemoFailure} with `what()` after
 * `timeoutMs`, {@link Interrupted} when `signal` says so.
 */
export async function waitUntil<T>(
  look: () => Promise<T | null>,
  options: StepLimits & { what: () => string; everyMs?: number },
): Promise<T> {
  const until = performance.now() + options.timeoutMs;
  for (;;) {
    if (options.signal.aborted) throw new Interrupted();
    const found = await look();
    if (found !== null) return found;
    if (performance.now() > until) {
      throw new DemoFailure(`${options.what()} (after ${Math.round(options.timeoutMs / 1000)} s)`);
    }
    await sleep(options.everyMs ?? 100);
  }
}

/** Waits for Ctrl-C; `mustRun` throws when what the user looks at has ended by itself. */
export async function untilInterrupted(mustRun: () => Promise<void> | void, signal: AbortSignal): Promise<void> {
  const look = async (): Promise<null> => {
    await mustRun();
    return null;
  };
  await waitUntil(look, { timeoutMs: Infinity, signal, what: () => '' }).catch((error: unknown) => {
    if (!(error instanceof Interrupted)) throw error;
  });
}
