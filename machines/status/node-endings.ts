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

/** The condition's message of a pod that ends for this reason. */
export function disruptionMessage(reason: string, message: string): string {
  return reason === PREEMPTING ? DISRUPTED : message;
}
