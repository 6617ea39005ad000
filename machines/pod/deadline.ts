import type { PodContext } from './pod-context.ts';

/** The earliest of all deadlines of a pod and its child machines. */
export function deadlineAt(context: PodContext): number | null {
  if (context.finished) return null;
  let earliest = Number.POSITIVE_INFINITY;
  const { containers, probes, tasks } = context;
  for (const name in containers) earliest = Math.min(earliest, containers[name]?.context.deadline ?? Infinity);
  for (const key in probes) earliest = Math.min(earliest, probes[key]?.context.deadline ?? Infinity);
  for (const name in tasks) {
    const task = tasks[name];
    if (task?.state === 'failed') earliest = Math.min(earliest, task.retryAt);
  }
  if (context.termination === null) earliest = Math.min(earliest, activeDeadline(context) ?? Infinity);
  return earliest >= Number.MAX_SAFE_INTEGER ? null : earliest;
}

/** When `activeDeadlineSeconds`, which count from `status.startTime`, are over, ms since the epoch; null without them. */
export function activeDeadline({ pod, startedAt }: Pick<PodContext, 'pod' | 'startedAt'>): number | null {
  const seconds = pod.spec?.activeDeadlineSeconds;
  return seconds === undefined || startedAt === 0 ? null : startedAt + seconds * 1000;
}
