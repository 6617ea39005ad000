import { volumesInUse } from './volume-manager-state.ts';
import type { VolumeManagerState } from './volume-manager-state.ts';
import { Draft } from './volume-draft.ts';
import { settle } from './volume-goes-on.ts';
import { take } from './volume-hears.ts';
import type { VolumeMessage } from './volume-messages.ts';
import type { VolumeOrder } from './volume-orders.ts';
import { PATIENCE_MS } from './volume-waits.ts';

/**
 * One step of the volume manager: what the message tells goes to the volume or device that it is of, and then each of them that can go on does. A
 * message that changes nothing gives the same state again.
 */
export function stepVolumeManager(
  state: VolumeManagerState,
  message: VolumeMessage,
): { state: VolumeManagerState; outputs: VolumeOrder[] } {
  const draft = new Draft(state, message.at);
  take(draft, message);
  settle(draft);
  draft.servedDeadlines();
  const next = draft.state();
  if (draft.changed && String(volumesInUse(state)) !== String(volumesInUse(next)))
    draft.orders.unshift({ type: 'node.tell' });
  return { state: next, outputs: draft.orders };
}

/** When the next message `timer` is due, ms since the epoch; null when none is. */
export function nextVolumeDeadline({ mounts, devices }: VolumeManagerState): number | null {
  const times: number[] = [];
  for (const { context } of Object.values(mounts)) {
    if (context.retryAt !== null) times.push(context.retryAt);
    if (context.askedAt !== null) times.push(context.askedAt + PATIENCE_MS);
  }
  for (const { context } of Object.values(devices)) if (context.retryAt !== null) times.push(context.retryAt);
  return times.length === 0 ? null : Math.min(...times);
}
