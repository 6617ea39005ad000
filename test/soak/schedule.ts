import { Random } from './random.ts';
import { SHAPES } from './shapes.ts';
import type { Shape } from './shapes.ts';

/** What is killed with `kill -9` (a worker thread: ended without a word). */
export type Victim = 'agent' | 'containerd' | 'apiServer' | 'worker';

/** Which worker threads end. */
export type Workers = 'all' | 'even' | 'odd';

/** One thing that is done to the node, `at` ms after the beginning. */
export type Act =
  | { at: number; do: 'create'; name: string; shape: Shape; graceSeconds: number }
  | { at: number; do: 'delete'; name: string }
  | { at: number; do: 'kill'; victim: Victim; workers: Workers };

/** Pods that are there at a time. */
export const PODS = 30;
/** Quiet time before the end, in which all that is left must become what it is to be, ms. */
export const QUIET_MS = 20_000;

const VICTIMS: Readonly<Record<Victim, number>> = { worker: 4, agent: 3, containerd: 2, apiServer: 1 };
/** In a run of so many minutes one agent lives through half of it (its workers do not), so that its growth can be seen. */
const LONG_MINUTES = 10;
const LONG_LIFE = { from: 0.3, to: 0.8 };

/**
 * All that happens in a soak, drawn from the seed: thirty places, in each of which one pod follows another, and a kill
 * every 10 to 30 s. Sorted by time; the same arguments give the same schedule.
 */
export function drawSchedule(seed: number, minutes: number): Act[] {
  const random = new Random(seed);
  const end = minutes * 60_000 - QUIET_MS;
  const acts: Act[] = [];
  for (let place = 0; place < PODS; place++) {
    // the first ones come within twenty seconds, or a node that has just begun would see thirty at once
    let at = random.int(0, 20_000);
    for (let n = 0; at < end; n++) {
      const name = `p${place}-${n}`;
      const shape = random.weighted(SHAPES);
      // no 0: the API server removes such a pod at once, while its containers still run
      acts.push({ at, do: 'create', name, shape, graceSeconds: random.pick([1, 3, 8]) });
      at += random.int(15_000, 120_000);
      if (at >= end) break;
      acts.push({ at, do: 'delete', name });
      at += random.int(0, 4_000);
    }
  }
  for (let at = random.int(15_000, 25_000); at < end; at += random.int(10_000, 30_000)) {
    const victim = random.weighted(VICTIMS);
    const spared = minutes >= LONG_MINUTES && at > end * LONG_LIFE.from && at < end * LONG_LIFE.to;
    const workers = random.pick<Workers>(['all', 'even', 'odd']);
    acts.push({ at, do: 'kill', victim: victim === 'agent' && spared ? 'worker' : victim, workers });
  }
  return acts.sort((a, b) => a.at - b.at);
}
