import type { ContainerGcPolicy } from '../../machines/container-gc/container-gc-context.ts';
import type { KubeletFlags } from '../configure/configuration/kubelet-flags.ts';

/** How many ended containers the node keeps, as kubelet's deprecated flags say. */
export function containerGcPolicy(flags: KubeletFlags): ContainerGcPolicy {
  return {
    minAgeMs: flags.minimumContainerTtlDuration,
    maxPerContainer: flags.maximumDeadContainersPerContainer,
    maxContainers: flags.maximumDeadContainers,
  };
}
