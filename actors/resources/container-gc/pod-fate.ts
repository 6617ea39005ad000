import type { Fate } from '../../../machines/container-gc/container-gc-context.ts';
import type { Pod, PodStatus } from '../../../machines/protocol/api-types.ts';
import { hasEnded } from '../eviction/active-pods.ts';
import { isOwnEnding } from '../../../machines/status/node-endings.ts';

/**
 * What became of a pod, as far as its containers are concerned (kubelet's ShouldPodContentBeRemoved and ShouldPodRuntimeBeRemoved).
 *
 * @param state of its machine; null: there is no such pod
 * @param ready all sources of pods have spoken: what none of them names is gone
 */
export function fateOf(state: string | null, pod: Pod | undefined, ready: boolean): Fate {
  if (state === null) return ready ? 'gone' : 'lives';
  if (!hasEnded(state)) return 'lives';
  return pod?.metadata?.deletionTimestamp !== undefined || endedForTheNode(pod?.status) ? 'gone' : 'ended';
}

/** Of a pod that has succeeded all the same only its condition tells. */
function endedForTheNode(status: PodStatus = {}): boolean {
  if (isOwnEnding(status.reason ?? '')) return true;
  return (status.conditions ?? []).some(
    ({ type, status: value, reason }) =>
      type === 'DisruptionTarget' && value === 'True' && reason === 'TerminationByKubelet',
  );
}
