import type { PodReport } from '../../../actors/pods/shard/shard-protocol.ts';
import type { PodStatus } from '../../../machines/protocol/api-types.ts';
import { isDisruptedByNode } from '../../../machines/status/node-endings.ts';

/**
 * The node ended the pod for its own sake, and each of its containers came to a good end all the same: then it has succeeded, and the reason
 * is told no more (kubelet's generateAPIPodStatus; e2e_node "CriticalPod").
 */
export function endedWell({ state, status }: PodReport): boolean {
  return state.startsWith('terminated.') && hasSucceeded(status);
}

/** The same of a status that the API shows: its condition tells that the node did it. */
export function wasEndedWell(status: PodStatus = {}): boolean {
  return hasSucceeded(status) && isDisruptedByNode(status);
}

/** Succeeded, without a reason, by the ends of all containers. */
export function hasSucceeded({ phase, reason, containerStatuses = [] }: PodStatus): boolean {
  if (phase !== 'Succeeded' || reason !== undefined) return false;
  return containerStatuses.every(
    ({ state, lastState }) => (state?.terminated ?? lastState?.terminated)?.exitCode === 0,
  );
}
