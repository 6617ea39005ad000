import type { PodMemory, ResizeMemory } from '../protocol/memory.ts';
import type { Pod } from '../protocol/api-types.ts';
import { allocationOf, withAllocation } from './allocation.ts';
import { hadBefore } from './pod-level.ts';
import type { PodLevelResizes } from './pod-level.ts';
import type { PodAllocation } from './allocation.ts';
import { notedBefore } from './resize-conditions.ts';

/** What a pod's containers have: what is allocated to them, save where a resize has still to put it in force. */
export function actuatedOf(pod: Pod, resize: ResizeMemory | undefined): PodAllocation {
  const { ContainerResources } = allocationOf(pod);
  return {
    ContainerResources: { ...ContainerResources, ...resize?.actuated },
    PodLevelResources: resize?.podLevel ?? pod.spec?.resources ?? null,
  };
}

/**
 * The memory of a pod that an earlier agent (or a kubelet) ran, with what its checkpoint says of the resources that the
 * containers have: where that is not what is allocated, a resize goes on. `at`: ms since the epoch.
 */
export function withActuated(
  memory: PodMemory | null,
  pod: Pod,
  checkpoint: PodAllocation | undefined,
  at: number,
  settings: PodLevelResizes = {},
): PodMemory | null {
  if (memory?.resize !== undefined || checkpoint === undefined) return memory;
  // What nobody noted of the whole pod is taken to be what it is allocated.
  const podLevel = settings.podLevelResizes && checkpoint.PodLevelResources !== null;
  const had = hadBefore(withAllocation(pod, checkpoint, podLevel), pod, settings);
  if (had === undefined) return memory;
  const told = notedBefore(pod, 'PodResizeInProgress', at);
  const generation = told?.generation ?? pod.metadata?.generation ?? 0;
  const resize: ResizeMemory = { generation, since: told?.since ?? at, error: told?.message ?? '', ...had };
  return { ...(memory ?? { containers: {}, probes: {}, messages: {} }), resize };
}
