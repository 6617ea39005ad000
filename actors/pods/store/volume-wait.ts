import { volumeWaits, waitText } from '../../../machines/volume-manager/volume-words.ts';
import type { VolumeManagerState } from '../../../machines/volume-manager/volume-manager-state.ts';
import type { PodRow } from './pod-row.ts';

/** States of a pod in which its volumes are waited for. */
const WAITING = new Set(['syncing.mountingVolumes', 'terminated.cleaningUp']);

/** The row of a pod that waits for volumes, with what each of them waits for: its own machine only knows that it asked. */
export function withVolumeWait(row: PodRow, state: VolumeManagerState): PodRow {
  if (!WAITING.has(row.state)) return row;
  const waits = volumeWaits(state, row.uid).map(waitText);
  return waits.length === 0 ? row : { ...row, why: [row.why, ...waits].filter((text) => text !== '').join('; ') };
}
