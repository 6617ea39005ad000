import type { Fate } from '../../../machines/container-gc/container-gc-context.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { hasEnded } from '../eviction/active-pods.ts';
import { isDisruptedByNode, isOwnEnding } from '../../../machines/status/node-endings.ts';

/**
 * What became of a pod, as far as its containers are concerned (kubelet's ShouldPodContentBeRemoved and ShouldPodRuntimeBeRemoved).
 *
 * @param state of its machine; null: there is no such pod
 * @param ready all sources of pods have spoken: what none of them names is gone
 */
export function fateOf(state: string | null, pod: Pod | undefined, ready: boolean): Fate {
  if (state === null) return ready ? 'gone' : 'lives';
  if (!hasEnded(state)) return 'lives';
  return pod?.metadata?.deletionTimestamp !== undefined || isEndedByNode(pod) ? 'gone' : 'ended';
}

/** The node has ended it for its own sake: what it comes to does not hang on its containers. */
export function isEndedByNode(pod: Pod | undefined): boolean {
  const { status = {} } = pod ?? {};
  return isOwnEnding(status.reason ?? '') || isDisruptedByNode(status);
}
