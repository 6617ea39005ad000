import type { PodReport } from '../../../actors/pods/shard/shard-protocol.ts';

/**
 * The node ended the pod for its own sake, and each of its containers came to a good end all the same: then it has succeeded, and the reason
 * is told no more (kubelet's generateAPIPodStatus; e2e_node "CriticalPod").
 */
export function endedWell({ state, status }: PodReport): boolean {
  if (!state.startsWith('terminated.') || status.phase !== 'Succeeded' || status.reason !== undefined) return false;
  return (status.containerStatuses ?? []).every(
    ({ state: now, lastState }) => (now?.terminated ?? lastState?.terminated)?.exitCode === 0,
  );
}
