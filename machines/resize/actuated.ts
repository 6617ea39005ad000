import type { PodMemory, ResizeMemory } from '../protocol/memory.ts';
import type { Pod } from '../protocol/api-types.ts';
import { allocationOf } from './allocation.ts';
import type { PodAllocation } from './allocation.ts';
import { sameSizes } from './requirements.ts';
import type { Requirements } from '../protocol/requirements.ts';
import { notedBefore } from './resize-conditions.ts';

/** What a pod's containers have: what is allocated to them, save where a resize has still to put it in force. */
export function actuatedOf(pod: Pod, resize: ResizeMemory | undefined): PodAllocation {
  const { ContainerResources } = allocationOf(pod);
  return {
    ContainerResources: { ...ContainerResources, ...resize?.actuated },
    PodLevelResources: pod.spec?.resources ?? null,
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
): PodMemory | null {
  if (memory?.resize !== undefined || checkpoint === undefined) return memory;
  const actuated: Record<string, Requirements> = {};
  for (const [name, wanted] of Object.entries(allocationOf(pod).ContainerResources)) {
    const has = checkpoint.ContainerResources[name];
    if (has !== undefined && !sameSizes(has, wanted)) actuated[name] = has;
  }
  if (Object.keys(actuated).length === 0) return memory;
  const told = notedBefore(pod, 'PodResizeInProgress', at);
  const generation = told?.generation ?? pod.metadata?.generation ?? 0;
  const resize: ResizeMemory = { generation, since: told?.since ?? at, error: told?.message ?? '', actuated };
  return { ...(memory ?? { containers: {}, probes: {}, messages: {} }), resize };
}
