import type { PodStatus } from '../protocol/api-types.ts';

/** `status.reason` of a pod that gave way to a critical one, and reason of its event. */
export const PREEMPTING = 'Preempting';
/** Reason of pods that a shutdown of the node ends. */
export const TERMINATED = 'Terminated';
/** Its `status.message`, and the event's. */
export const PREEMPTED = 'Preempted in order to admit critical pod';
/** What its condition DisruptionTarget says. */
const DISRUPTED = 'Pod was preempted by Kubelet to accommodate a critical pod.';

/** Reasons for which the node ends a pod for its own sake: it fails, whatever its containers would have done. */
export function isOwnEnding(reason: string): boolean {
  return reason === 'Evicted' || reason === PREEMPTING || reason === TERMINATED;
}

/** Reason of its condition DisruptionTarget. */
export const BY_KUBELET = 'TerminationByKubelet';

/** Does a status tell, by its condition, that the node ended the pod for its own sake? One that has succeeded all the same has no reason. */
export function isDisruptedByNode({ conditions = [] }: PodStatus): boolean {
  return conditions.some(
    ({ type, status, reason }) => type === 'DisruptionTarget' && status === 'True' && reason === BY_KUBELET,
  );
}

/** The condition's message of a pod that ends for this reason. */
export function disruptionMessage(reason: string, message: string): string {
  return reason === PREEMPTING ? DISRUPTED : message;
}
