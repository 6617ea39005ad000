import type { PullPlace } from '../protocol/pull-place.ts';

/** What a pod was told of a pull that it waits for: of one that began at once it is told nothing. */
export interface ToldPull {
  /** When it began to wait for its turn, ms since the epoch. */
  since: number;
  /** Where it stood in the queue then. */
  place: PullPlace;
  /** When the pull began; 0 = not yet. */
  begunAt: number;
}
