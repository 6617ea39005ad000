/** How many seeds a day has of its own. */
export const FRESH_SEEDS = 80;

/**
 * The first of a day's seeds: its UTC date as a number (2026-11-22: 261122000). By the day, and not by the commit, so that a change of the
 * docs meets no other seeds than the commit before it, and two people who look on one day see the same. `given` (as of
 * `ACTORLET_FRESH_SEED`) repeats those of another day.
 *
 * @throws Error when `given` is no whole number
 */
export function firstFreshSeed(now: Date, given?: string): number {
  if (given === undefined) return Number(now.toISOString().slice(2, 10).replaceAll('-', '')) * 1_000;
  const seed = Number(given);
  if (given === '' || !Number.isSafeInteger(seed)) throw new Error(`no seed: "${given}"`);
  return seed;
}

/** What runs one seed again, whatever the day. */
export const again = (seed: number): string => `bin/simulate --seed ${seed} --seeds 1`;
