import type { Container, EphemeralContainer, Pod } from '../protocol/api-types.ts';

/** All containers of a pod in kubelet's order: init containers, regular ones, ephemeral ones. */
export function allContainers(pod: Pod): (Container | EphemeralContainer)[] {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = pod.spec ?? {};
  return [...initContainers, ...containers, ...ephemeralContainers];
}
