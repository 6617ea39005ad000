import type { ContainerStatus, Pod } from '../../../../machines/protocol/api-types.ts';

/** `containerStatuses[]` entry of a container (init containers too). */
export function statusOf(pod: Pod, container: string): ContainerStatus {
  const all = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const found = all.find((c) => c.name === container);
  if (found === undefined) throw new Error(`no status of ${container} in ${JSON.stringify(pod.status)}`);
  return found;
}

/** Runs, and all its containers are ready. */
export function isReady(pod: Pod): boolean {
  return conditionOf(pod, 'Ready') === 'True';
}

/** `status` of a condition, '' when the pod has none of that type. */
export function conditionOf(pod: Pod, type: string): string {
  return pod.status?.conditions?.find((c) => c.type === type)?.status ?? '';
}

/** Restart counts by container name. */
export function restartsOf(pod: Pod): Record<string, number> {
  const all = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  return Object.fromEntries(all.map((c) => [c.name, c.restartCount]));
}
