import { toldOf } from '../../../machines/status/status-lists.ts';
import { goQuote } from '../../../machines/container-config/go-json.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';

/** Which container's log to read (`containerd://...`), or why there is none, in the kubelet's words. */
export type LogTarget = { containerID: string } | { problem: string };

/** Is there a container of that name (init and ephemeral ones, too) in the spec? */
export function hasContainer(pod: Pod, name: string): boolean {
  const { containers, initContainers, ephemeralContainers } = pod.spec ?? { containers: [] };
  return [containers, initContainers, ephemeralContainers].some((list) => list?.some((one) => one.name === name));
}

/** Finds the container ID in the pod's status as `validateContainerLogStatus` does. */
export function logTarget(pod: Pod, container: string, previous: boolean): LogTarget {
  const subject = `container ${goQuote(container)} in pod ${goQuote(pod.metadata?.name ?? '')}`;
  const status = toldOf(pod.status, container);
  if (status === undefined) return { problem: `${subject} is not available` };

  const last = status.lastState?.terminated;
  const lastID = last?.containerID ?? '';
  const { running, terminated, waiting } = status.state ?? {};
  if (previous) {
    if (lastID === '') return { problem: `previous terminated ${subject} not found` };
    return { containerID: lastID };
  }
  if (running != null) return { containerID: status.containerID ?? '' };
  if (terminated != null) {
    // A container whose successor could not even be created has no ID of its own.
    const id = terminated.containerID || lastID;
    return id === '' ? { problem: `${subject} is terminated` } : { containerID: id };
  }
  if (last != null) return lastID === '' ? { problem: `${subject} is terminated` } : { containerID: lastID };
  if (waiting == null) return { problem: `${subject} is waiting to start - no logs yet` };
  switch (waiting.reason) {
    case 'ErrImagePull':
      return { problem: `${subject} is waiting to start: image can't be pulled` };
    case 'ImagePullBackOff':
      return { problem: `${subject} is waiting to start: trying and failing to pull image` };
    default:
      return { problem: `${subject} is waiting to start: ${waiting.reason ?? ''}` };
  }
}
