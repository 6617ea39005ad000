import type { Container, Pod } from '../protocol/api-types.ts';
import { resizableContainers, sameRequirements } from './requirements.ts';
import type { Requirements } from '../protocol/requirements.ts';

/** What the node has set aside for a pod, by container: kubelet's PodResourceInfo, as its checkpoints have it. */
export interface PodAllocation {
  ContainerResources: Record<string, Requirements>;
  /** Only with feature gate InPlacePodLevelResourcesVerticalScaling; without it, what a kubelet left is kept. */
  PodLevelResources: Requirements | null;
}

/**
 * The allocation that a pod gets when the node takes it as it stands (allocationFromPod).
 * @param podLevel with what is asked for the whole pod
 */
export function allocationOf(pod: Pod, podLevel = false): PodAllocation {
  const ContainerResources: Record<string, Requirements> = {};
  for (const { name, resources } of resizableContainers(pod)) ContainerResources[name] = resources ?? {};
  return { ContainerResources, PodLevelResources: (podLevel && pod.spec?.resources) || null };
}

/**
 * The pod as the node runs it: with the resources that were allocated instead of those its spec asks for
 * (UpdatePodFromAllocation). The same object when there is no difference.
 * @param podLevel what is asked for the whole pod gives way, too
 */
export function withAllocation(definition: Pod, allocation: PodAllocation | undefined, podLevel = false): Pod {
  if (definition.spec === undefined || allocation === undefined) return definition;
  const pod = podLevel ? withPodLevel(definition, allocation.PodLevelResources) : definition;
  const { spec = definition.spec } = pod;
  const containers = allocated(spec.containers, allocation);
  const initContainers = spec.initContainers && allocated(spec.initContainers, allocation);
  if (containers === spec.containers && initContainers === spec.initContainers) return pod;
  return { ...pod, spec: { ...spec, containers, ...(initContainers && { initContainers }) } };
}

function withPodLevel(pod: Pod, given: Requirements | null): Pod {
  const { resources, ...rest } = pod.spec ?? { containers: [] };
  if (sameRequirements(resources, given ?? undefined)) return pod;
  return { ...pod, spec: { ...rest, ...(given !== null && { resources: given }) } };
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
