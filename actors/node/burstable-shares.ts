import type { Pod } from '../../machines/protocol/api-types.ts';
import { podQosClass } from '../../machines/qos/qos-class.ts';
import { podRequests } from '../../machines/qos/pod-resources.ts';
import { milli } from '../../machines/qos/resource-amounts.ts';
import { milliToShares } from '../../machines/qos/cpu-shares.ts';

/** Shares of the burstable cgroup: those of the summed cpu requests of all burstable pods that have not ended. */
export function burstableShares(pods: readonly Pod[]): number {
  let total = 0;
  for (const pod of pods) {
    const phase = pod.status?.phase;
    if (phase === 'Succeeded' || phase === 'Failed' || podQosClass(pod) !== 'Burstable') continue;
    total += milli(podRequests(pod)['cpu']);
  }
  return milliToShares(total);
}
