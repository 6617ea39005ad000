import type { Pod } from '../../machines/protocol/api-types.ts';
import { podQosClass } from '../../machines/qos/qos-class.ts';
import { podRequests } from '../../machines/qos/pod-resources.ts';
import { milli, units } from '../../machines/qos/resource-amounts.ts';
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

/** Bytes of memory that pods which have not ended ask for: burstable and guaranteed ones, and burstable ones alone. */
export function memoryRequests(pods: readonly Pod[]): { all: number; burstable: number } {
  const sum = { all: 0, burstable: 0 };
  for (const pod of pods) {
    const [phase, qos] = [pod.status?.phase, podQosClass(pod)];
    if (phase === 'Succeeded' || phase === 'Failed' || qos === 'BestEffort') continue;
    const bytes = units(podRequests(pod)['memory']);
    sum.all += bytes;
    if (qos === 'Burstable') sum.burstable += bytes;
  }
  return sum;
}
