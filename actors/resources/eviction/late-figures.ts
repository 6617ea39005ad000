import type { Observations } from '../../../machines/eviction/observations.ts';
import type { Clock } from '../../host/time/clock.ts';
import type { Summary } from '../stats/summary.ts';

// What a runtime tells of its disk is late both ways; whoever decides by it ends pods that have done nothing.

/** For so long a runtime may take to give back what it was told to remove, ms. */
const FREEING_MS = 15_000;
/** And to count layers anew, ms: containerd does so each 10 s when it is not told otherwise (`stats_collect_period`). */
const COUNTING_MS = 12_000;
/** Time between two looks at whether it has, ms. */
const LOOK_MS = 1_000;

/** How a look that is waited for goes on. */
export interface Waiting {
  readonly clock: Pick<Clock, 'steady' | 'lookAfter'>;
  /** Something is more urgent than figures that are new: what there is has to do. */
  readonly isUrgent: () => boolean;
}

/**
 * What is seen of the node once a runtime has given back the layers of a pod that was evicted: containerd answers
 * RemoveContainer first and frees the disk some time after. On kubelet a well-behaved neighbour has to go meanwhile
 * (kubernetes#127864).
 * @param first what was seen right after the removal
 * @param isShort is the node still short by these figures?
 * @param look looks again; null when the figures cannot be had
 * @returns the first figures by which it is not short, else the last ones after 15 s; null when `first` is
 */
export function seenOnceFreed(
  first: Observations | null,
  isShort: (seen: Observations) => boolean,
  look: () => Promise<Observations | null>,
  waiting: Waiting,
): Promise<Observations | null> {
  const again = async (last: Observations | null): Promise<Observations | null> => (await look()) ?? last;
  return lookUntil((seen) => seen === null || !isShort(seen), first, again, FREEING_MS, waiting);
}

/**
 * What pods take, with layers that were counted since a moment: a container that has filled the disk in the last seconds looks
 * like its neighbours in the figures of before, and on kubelet any of them goes.
 * @param since ms since the epoch
 * @returns the first that is so new, else the last one after 12 s
 */
export async function summaryWithLayersSince(
  since: number,
  look: () => Promise<Summary>,
  waiting: Waiting,
): Promise<Summary> {
  return lookUntil((summary) => hasLayersSince(summary, since), await look(), look, COUNTING_MS, waiting);
}

/** A layer without a time was never counted, or is counted when it is asked for. */
function hasLayersSince({ pods }: Summary, since: number): boolean {
  return pods.every(({ containers }) => containers.every(({ rootfs }) => (rootfs?.time ?? Infinity) / 1e6 >= since));
}

async function lookUntil<T>(
  isEnough: (seen: T) => boolean,
  first: T,
  look: (last: T) => Promise<T>,
  patienceMs: number,
  { clock, isUrgent }: Waiting,
): Promise<T> {
  const latest = clock.steady() + patienceMs;
  let seen = first;
  while (!isEnough(seen) && !isUrgent() && clock.steady() < latest) {
    await new Promise<void>((resolve) => clock.lookAfter(LOOK_MS, resolve));
    seen = await look(seen);
  }
  return seen;
}
