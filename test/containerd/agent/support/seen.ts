import assert from 'node:assert/strict';
import type { ContainerStatus, Pod } from '../../../../machines/protocol/api-types.ts';

/** `containerStatuses[]` entry of a container (init containers too). */
export function statusOf(pod: Pod, container: string): ContainerStatus {
  const all = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const found = all.find((c) => c.name === container);
  if (found === undefined) throw new Error(`no status of ${container} in ${JSON.stringify(pod.status)}`);
  return found;
}

/**
 * Fails when a container that waited in its back-off has been restarted before that was over. A delay that has ended by
 * itself meanwhile, as on a busy machine, is kept; of one that was restarted more than once since nothing can be told.
 */
export function assertDelayKept(waiting: Pod, later: Pod, container: string, delaySeconds: number): void {
  const [was, is] = [statusOf(waiting, container), statusOf(later, container)];
  assert.ok(is.restartCount >= was.restartCount);
  if (is.restartCount !== was.restartCount + 1) return;
  const ended = Date.parse(String(was.lastState?.terminated?.finishedAt));
  const again = is.state?.running ?? is.state?.terminated ?? is.lastState?.terminated;
  const pause = Date.parse(String(again?.startedAt)) - ended;
  // both times are whole seconds
  assert.ok(pause >= (delaySeconds - 1) * 1_000, `restarted ${pause} ms after its end`);
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
