import type { Pod, PodStatus } from '../protocol/api-types.ts';
import { podQosClass } from '../qos/qos-class.ts';
import { isTerminalPhase } from './phase.ts';

/** `status.reason` of a pod that has no machine for a while, and the reason of its event: kubelet's for a pod that it cannot sync. */
export const FAILED_SYNC = 'FailedSync';

/**
 * The status of a pod whose machine is given up for a while. What was told of it stays, but it is not Ready: nobody looks
 * whether its containers are well.
 * @param told the last status that its machine told; undefined when it never came to that
 * @param at ms since the epoch
 */
export function asideStatus(pod: Pod, told: PodStatus | undefined, message: string, at: number): PodStatus {
  const status: PodStatus = told ?? { phase: 'Pending', qosClass: podQosClass(pod) };
  if (isTerminalPhase(status.phase)) return status;
  const conditions = status.conditions ?? [];
  const before = conditions.find(({ type }) => type === 'Ready');
  const lastTransitionTime = before?.status === 'False' ? before.lastTransitionTime : new Date(at).toISOString();
  const ready = {
    ...before,
    ...{ type: 'Ready', status: 'False' as const, reason: FAILED_SYNC, message },
    ...(lastTransitionTime !== undefined && { lastTransitionTime }),
  };
  return {
    ...status,
    reason: FAILED_SYNC,
    message,
    conditions: before === undefined ? [...conditions, ready] : conditions.map((c) => (c === before ? ready : c)),
  };
}
