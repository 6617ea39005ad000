import type { ContainerStatus, Pod, PodStatus } from '../protocol/api-types.ts';

/**
 * The status with a reason for each container that waits without one: it was created a moment ago and starts next.
 * A kubelet looks at a pod between its rounds and hardly ever sees that moment; to clients it is still
 * `ContainerCreating`, or `PodInitializing` in a pod with init containers (kubelet_pods.go, defaultWaitingState).
 */
export function withWaitingReasons(status: PodStatus, pod: Pod): PodStatus {
  if (!lists(status).some((list) => list.some(isBare))) return status;
  const reason = (pod.spec?.initContainers?.length ?? 0) > 0 ? 'PodInitializing' : 'ContainerCreating';
  const named = (list: ContainerStatus[]): ContainerStatus[] =>
    list.map((each) => (isBare(each) ? { ...each, state: { waiting: { reason } } } : each));
  const { initContainerStatuses, containerStatuses, ephemeralContainerStatuses } = status;
  return {
    ...status,
    ...(initContainerStatuses && { initContainerStatuses: named(initContainerStatuses) }),
    ...(containerStatuses && { containerStatuses: named(containerStatuses) }),
    ...(ephemeralContainerStatuses && { ephemeralContainerStatuses: named(ephemeralContainerStatuses) }),
  };
}

function lists(status: PodStatus): ContainerStatus[][] {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status;
  return [initContainerStatuses, containerStatuses, ephemeralContainerStatuses];
}

function isBare({ state }: ContainerStatus): boolean {
  return state?.waiting !== undefined && state.waiting.reason === undefined;
}
