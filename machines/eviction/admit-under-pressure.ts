import { tolerates } from '../admission/admit-pod.ts';
import type { Pod } from '../protocol/api-types.ts';
import { isCriticalPod } from '../qos/critical-pod.ts';
import { podQosClass } from '../qos/qos-class.ts';
import { EVICTED } from './eviction-words.ts';
import type { Pressure } from './signals.ts';

const MEMORY_TAINT = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' };

/**
 * Why a node under pressure does not take a pod, null when it does (kubelet's Admit of the eviction manager): critical pods it
 * takes always; those that ask for resources, or bear the taint, when memory alone is short.
 * @param comparison feature gate TaintTolerationComparisonOperators
 */
export function refusedUnderPressure(
  pod: Pod,
  conditions: readonly Pressure[],
  comparison: boolean,
): { reason: string; message: string } | null {
  if (conditions.length === 0 || isCriticalPod(pod)) return null;
  if (conditions.length === 1 && conditions[0] === 'MemoryPressure') {
    if (podQosClass(pod) !== 'BestEffort') return null;
    if ((pod.spec?.tolerations ?? []).some((each) => tolerates(each, MEMORY_TAINT, comparison))) return null;
  }
  return { reason: EVICTED, message: `The node had condition: [${conditions.join(' ')}]. ` };
}
