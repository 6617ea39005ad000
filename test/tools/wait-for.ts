import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How long a test waits for something that must come, ms: long for a busy machine, and no measure of speed. At a load of
 * fifty on two cores a pod takes half a minute to start, and some tests wait for several in a row.
 */
export const PATIENCE_MS = 240_000;

/**
 * Looks each 100 ms (or `everyMs`) until `look` gives something other than undefined, and returns that. What `look` throws counts as
 * "not yet". Throws with `what` and the words of `explain` when nothing came for {@link PATIENCE_MS}.
 */
export async function waitFor<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  explain: () => Promise<string> | string = () => '',
  patienceMs = PATIENCE_MS,
  everyMs = 100,
): Promise<T> {
  const until = performance.now() + patienceMs;
  let problem = '';
  for (;;) {
    try {
      const found = await look();
      if (found !== undefined) return found;
      problem = '';
    } catch (error) {
      problem = `; last look: ${error instanceof Error ? error.message : String(error)}`;
    }
    if (performance.now() > until) throw new Error(`waited in vain for: ${what}${problem}\n${await explain()}`);
    await sleep(everyMs);
  }
}

/** {@link waitFor} something to be true, within this process or of files: looks each 5 ms. */
export async function until(holds: () => boolean | Promise<boolean>, what: string = holds.toString()): Promise<void> {
  await waitFor(what, async () => ((await holds()) ? true : undefined), undefined, PATIENCE_MS, 5);
}
