import type { PodContext } from './pod-context.ts';

/** The earliest of all deadlines of a pod and its child machines. */
export function deadlineAt(context: PodContext): number | null {
  if (context.finished) return null;
  let earliest = Number.POSITIVE_INFINITY;
  for (const place of Object.values(context.containers))
    earliest = Math.min(earliest, place.context.deadline ?? Infinity);
  for (const place of Object.values(context.probes)) earliest = Math.min(earliest, place.context.deadline ?? Infinity);
  for (const task of Object.values(context.tasks))
    if (task.state === 'failed') earliest = Math.min(earliest, task.retryAt);
  const active = context.pod.spec?.activeDeadlineSeconds;
  if (active !== undefined && context.termination === null && context.startedAt !== 0) {
    earliest = Math.min(earliest, context.startedAt + active * 1000);
  }
  return earliest >= Number.MAX_SAFE_INTEGER ? null : earliest;
}
