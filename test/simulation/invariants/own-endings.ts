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

/**
 * The same over several lives of the agent and its workers. One that comes after goes through the end of a pod once more, from its
 * first step, and says from there on what was told of it before: a terminal phase stays (kubelet's generateAPIPodStatus).
 */
export class GoodEnds {
  private readonly told = new Set<string>();

  tells(uid: string, report: PodReport): boolean {
    if (endedWell(report)) this.told.add(uid);
    return this.told.has(uid) && hasSucceeded(report.status);
  }

  /** The pod is gone: what comes under its UID is another life. */
  forget(uid: string): void {
    this.told.delete(uid);
  }
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
