import type { ContainerStatus, Pod, PodStatus } from '../protocol/api-types.ts';
import { STATUS_LISTS } from './status-lists.ts';

/**
 * The status as clients may see it while a container is created and not yet started: a kubelet looks at a pod between
 * its rounds and hardly ever sees that moment, so clients take a new `restartCount` to mean that the container runs.
 * Until it does they are shown what the API has of it (`CrashLoopBackOff`, its last end); of one that is new, that it
 * waits: `ContainerCreating`, or `PodInitializing` in a pod with init containers (kubelet_pods.go,
 * convertToAPIContainerStatuses).
 */
export function withoutCreated(status: PodStatus, shown: PodStatus, pod: Pod): PodStatus {
  if (!STATUS_LISTS.some((list) => status[list]?.some(isCreated))) return status;
  const reason = (pod.spec?.initContainers?.length ?? 0) > 0 ? 'PodInitializing' : 'ContainerCreating';
  const out = { ...status };
  for (const list of STATUS_LISTS) {
    const own = status[list];
    if (own === undefined) continue;
    out[list] = own.map((each) => {
      if (!isCreated(each)) return each;
      const before = shown[list]?.find(({ name }) => name === each.name);
      const waits = before?.state?.terminated !== undefined || before?.state?.waiting?.reason !== undefined;
      return before !== undefined && waits ? before : { ...each, state: { waiting: { reason } } };
    });
  }
  return out;
}

function isCreated({ state }: ContainerStatus): boolean {
  return state?.waiting !== undefined && state.waiting.reason === undefined;
}
