import type { Pod, PodCondition } from '../protocol/api-types.ts';
import { rfc3339 } from '../values/rfc3339.ts';

/** A resize that waits, as condition PodResizePending tells it. */
export interface PendingNote {
  reason: string;
  message: string;
  generation: number;
  /** When it came to this reason, ms since the epoch. */
  since: number;
}

/** A later note: its time moves only with the reason (kubelet updatedPodResizeCondition). */
export function pendingNote(before: PendingNote | undefined, now: Omit<PendingNote, 'since'>, at: number): PendingNote {
  return { ...now, since: before !== undefined && before.reason === now.reason ? before.since : at };
}

/** Condition PodResizePending. */
function pendingCondition(note: PendingNote): PodCondition {
  return condition('PodResizePending', note);
}

/** Condition PodResizeInProgress; `error` '' while nothing went wrong. */
export function inProgressCondition(resize: { generation: number; since: number; error: string }): PodCondition {
  const reason = resize.error === '' ? '' : 'Error';
  return condition('PodResizeInProgress', { ...resize, reason, message: resize.error });
}

/** The note that an earlier agent left in the API; undefined when there is none. */
export function notedBefore(
  pod: Pod,
  type: 'PodResizePending' | 'PodResizeInProgress',
  at: number,
): PendingNote | undefined {
  const found = pod.status?.conditions?.find((each) => each.type === type);
  if (found === undefined) return undefined;
  const { reason = '', message = '', observedGeneration = 0, lastTransitionTime } = found;
  const since = Date.parse(lastTransitionTime ?? '');
  return { reason, message, generation: observedGeneration, since: Number.isNaN(since) ? at : since };
}

/** The pod with this PodResizePending condition (or none) instead of what the API shows: the agent alone decides it. */
export function withPending(pod: Pod, note: PendingNote | undefined): Pod {
  const before = pod.status?.conditions ?? [];
  const old = before.find(({ type }) => type === 'PodResizePending');
  if (note === undefined && old === undefined) return pod;
  const conditions = before.filter(({ type }) => type !== 'PodResizePending');
  if (note !== undefined) conditions.push(pendingCondition(note));
  return { ...pod, status: { ...pod.status, conditions } };
}

function condition(type: string, { reason, message, generation, since }: PendingNote): PodCondition {
  return {
    type,
    status: 'True',
    ...(generation > 0 && { observedGeneration: generation }),
    lastProbeTime: rfc3339(since),
    lastTransitionTime: rfc3339(since),
    ...(reason !== '' && { reason }),
    ...(message !== '' && { message }),
  };
}
