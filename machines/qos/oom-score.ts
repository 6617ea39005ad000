import type { Container, Pod } from '../protocol/api-types.ts';
import { isNodeCriticalPod } from './critical-pod.ts';
import { containerRequests, hasPodLevelRequests, isSidecar } from './pod-resources.ts';
import { podQosClass } from './qos-class.ts';
import { amountsOf, units } from './resource-amounts.ts';

const GUARANTEED = -997;
const BEST_EFFORT = 1000;

function memoryRequest(container: Container): number {
  return units(amountsOf(container.resources?.requests)['memory']);
}

/** Pod-level memory that no container asked for, shared equally (KEP-2837). */
function sharePerContainer(pod: Pod): number {
  const podRequest = units(amountsOf(pod.spec?.resources?.requests)['memory']);
  const count = (pod.spec?.containers.length ?? 0) + (pod.spec?.initContainers?.length ?? 0);
  if (podRequest === 0 || count === 0) return 0;
  return Math.trunc((podRequest - units(containerRequests(pod)['memory'])) / count);
}

/**
 * `oom_score_adj` of a container. Guaranteed and node-critical: -997; best effort: 1000; burstable: 1000 less a point
 * for each thousandth of the node's memory it requests, within 3..999. A sidecar never scores above the containers
 * it serves. `memoryCapacityBytes`: the node's memory.
 */
export function oomScoreAdj(pod: Pod, container: Container, memoryCapacityBytes: number): number {
  if (isNodeCriticalPod(pod)) return GUARANTEED;
  const qos = podQosClass(pod);
  if (qos === 'Guaranteed') return GUARANTEED;
  if (qos === 'BestEffort') return BEST_EFFORT;

  const capacity = Math.max(1, memoryCapacityBytes);
  const extra = hasPodLevelRequests(pod) ? sharePerContainer(pod) : 0;
  const score = (bytes: number): number => 1000 - Math.trunc((1000 * (bytes + extra)) / capacity);
  let adj = score(memoryRequest(container));
  const isInit = (pod.spec?.initContainers ?? []).some((c) => c.name === container.name);
  if (isSidecar(container) && isInit) {
    const least = Math.min(...(pod.spec?.containers ?? []).map(memoryRequest));
    if (Number.isFinite(least)) adj = Math.min(adj, score(least));
  }
  if (adj < 1000 + GUARANTEED) return 1000 + GUARANTEED;
  return adj === BEST_EFFORT ? adj - 1 : adj;
}
