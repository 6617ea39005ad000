import type { Container, Pod } from '../protocol/api-types.ts';
import { resizableContainers, sameRequirements } from './requirements.ts';
import type { Requirements } from '../protocol/requirements.ts';

/** What the node has set aside for a pod, by container: kubelet's PodResourceInfo, as its checkpoints have it. */
export interface PodAllocation {
  ContainerResources: Record<string, Requirements>;
  /** Only with feature InPlacePodLevelResourcesVerticalScaling (alpha, off); kept when a kubelet left it. */
  PodLevelResources: Requirements | null;
}

/** The allocation that a pod gets when the node takes it as it stands (allocationFromPod). */
export function allocationOf(pod: Pod): PodAllocation {
  const ContainerResources: Record<string, Requirements> = {};
  for (const { name, resources } of resizableContainers(pod)) ContainerResources[name] = resources ?? {};
  return { ContainerResources, PodLevelResources: null };
}

/**
 * The pod as the node runs it: with the resources that were allocated instead of those its spec asks for
 * (UpdatePodFromAllocation). The same object when there is no difference.
 */
export function withAllocation(pod: Pod, allocation: PodAllocation | undefined): Pod {
  const { spec } = pod;
  if (spec === undefined || allocation === undefined) return pod;
  const containers = allocated(spec.containers, allocation);
  const initContainers = spec.initContainers && allocated(spec.initContainers, allocation);
  if (containers === spec.containers && initContainers === spec.initContainers) return pod;
  return { ...pod, spec: { ...spec, containers, ...(initContainers && { initContainers }) } };
}

function allocated(containers: Container[], { ContainerResources }: PodAllocation): Container[] {
  let changed = false;
  const out = containers.map((container) => {
    const given = Object.hasOwn(ContainerResources, container.name) ? ContainerResources[container.name] : undefined;
    if (given === undefined || sameRequirements(container.resources, given)) return container;
    changed = true;
    return { ...container, resources: given };
  });
  return changed ? out : containers;
}
