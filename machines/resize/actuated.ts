import type { PodMemory, ResizeMemory } from '../protocol/memory.ts';
import type { Pod } from '../protocol/api-types.ts';
import { allocationOf } from './allocation.ts';
import { givenContainer } from './pod-level.ts';
import type { PodLevelResizes } from './pod-level.ts';
import type { PodAllocation } from './allocation.ts';
import { resizableContainers, sameSizes } from './requirements.ts';
import type { Requirements } from '../protocol/requirements.ts';
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
  const actuated: Record<string, Requirements> = {};
  const whole = checkpoint.PodLevelResources;
  for (const container of resizableContainers(pod)) {
    const { name } = container;
    const has = checkpoint.ContainerResources[name];
    if (has === undefined) continue;
    // Kubelet notes what a container was given, with the pod's limits where it has none.
    const given = (each: Requirements | undefined, resources = pod.spec?.resources): Requirements | undefined =>
      givenContainer(withWhole(pod, resources), { name, resources: each }, settings).resources;
    const had = given(has, whole ?? undefined);
    if (!sameSizes(had, given(container.resources))) actuated[name] = had ?? {};
  }
  const podLevel =
    settings.podLevelResizes && whole !== null && !sameSizes(whole, pod.spec?.resources) ? whole : undefined;
  if (Object.keys(actuated).length === 0 && podLevel === undefined) return memory;
  const told = notedBefore(pod, 'PodResizeInProgress', at);
  const generation = told?.generation ?? pod.metadata?.generation ?? 0;
  const resize: ResizeMemory = {
    ...{ generation, since: told?.since ?? at, error: told?.message ?? '', actuated },
    ...(podLevel && { podLevel }),
  };
  return { ...(memory ?? { containers: {}, probes: {}, messages: {} }), resize };
}

function withWhole(pod: Pod, resources: Requirements | undefined): Pod {
  return { ...pod, spec: { containers: [], ...pod.spec, resources } };
}
