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
  const active = context.pod.spec?.activeDeadlineSeconds;
  if (active !== undefined && context.termination === null && context.startedAt !== 0) {
    earliest = Math.min(earliest, context.startedAt + active * 1000);
  }
  return earliest >= Number.MAX_SAFE_INTEGER ? null : earliest;
}
