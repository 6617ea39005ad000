import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type fc from 'fast-check';

/**
 * How often a property is tried. The suite itself runs the same inputs each time. For a long search with fresh seeds,
 * `ACTORLET_FUZZ_RUNS=N` sets it for all, and `ACTORLET_FUZZ_TIMES=N` multiplies what each one has.
 * `ACTORLET_FUZZ_SEED=N` repeats a search that found something.
 */
export function fuzz(runs: number): Pick<fc.Parameters<unknown>, 'numRuns' | 'seed' | 'endOnFailure' | 'verbose'> {
  const { ACTORLET_FUZZ_RUNS: wanted, ACTORLET_FUZZ_TIMES: times, ACTORLET_FUZZ_SEED: seed } = process.env;
  const fresh = (wanted !== undefined || times !== undefined) && seed === undefined;
  return {
    numRuns: Number(wanted ?? runs * Number(times ?? 1)),
    endOnFailure: true,
    ...(!fresh && { seed: Number(seed ?? 8) }),
  };
}

/** Bytes of the heap that are in use once all garbage is collected. */
export function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  gc();
  gc();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}
