import { waitingWords } from '../../../machines/images/pull-words.ts';
import type { PodRow } from './pod-row.ts';
import type { ImagePuller } from '../../runtime/images/image-puller.ts';

/** The row of a pod whose image waits to be pulled, with its place of now: its machine knows the place of the beginning only. */
export function withQueuePlace(row: PodRow, puller: Pick<ImagePuller, 'placeOf'>): PodRow {
  if (row.state !== 'syncing.pullingImage') return row;
  const place = puller.placeOf(row.uid, (image) => row.why.includes(`${waitingWords(image)} `));
  return place === null ? row : { ...row, why: `${row.why}; now in place ${place}` };
}
