import type { Observations } from '../../../machines/eviction/observations.ts';
import type { Clock } from '../../host/time/clock.ts';

/** For so long a runtime may take to give back what it was told to remove, ms. */
export const LATE_MS = 15_000;
/** Time between two looks at whether it has, ms. */
const LOOK_MS = 1_000;

/**
 * What is seen of the node once a runtime has given back the layers of a pod that was evicted: containerd answers
 * RemoveContainer first and frees the disk some time after. On kubelet a well-behaved neighbour has to go meanwhile
 * (kubernetes#127864).
 * @param first what was seen right after the removal
 * @param isShort is the node still short by these figures?
 * @param look looks again; null when the figures cannot be had
 * @returns the first figures by which it is not short, else those after {@link LATE_MS}; null when `first` is
 */
export async function seenOnceFreed(
  first: Observations | null,
  isShort: (seen: Observations) => boolean,
  look: () => Promise<Observations | null>,
  clock: Pick<Clock, 'steady' | 'lookAfter'>,
): Promise<Observations | null> {
  const latest = clock.steady() + LATE_MS;
  let seen = first;
  while (seen !== null && isShort(seen) && clock.steady() < latest) {
    await new Promise<void>((resolve) => clock.lookAfter(LOOK_MS, resolve));
    seen = (await look()) ?? seen;
  }
  return seen;
}
