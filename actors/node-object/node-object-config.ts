import type { NodeObjectConfig } from '../../machines/node-object/node-types.ts';
import type { KubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import type { KubeletFlags } from '../configuration/kubelet-flags.ts';

/**
 * What `nodeInfo.kubeletVersion` says: controllers and `kubectl` read a Kubernetes version out of it, and its suffix
 * tells people which agent it is, as distributions do (`v1.35.4-eks-...`). Skew checks look at the minor version.
 */
export const KUBELET_VERSION = 'v1.35.4-actorlet';

/** The settings that shape the node object. */
export function nodeObjectConfigOf(
  nodeName: string,
  config: KubeletConfiguration,
  flags: KubeletFlags,
): NodeObjectConfig {
  return {
    nodeName,
    labels: flags.nodeLabels,
    taints: config.registerWithTaints.map(({ key, value, effect }) => ({
      key,
      effect,
      ...(value === '' ? {} : { value }),
    })),
    externalCloudProvider: flags.cloudProvider === 'external',
    providerID: config.providerID,
    enableControllerAttachDetach: config.enableControllerAttachDetach,
    maxPods: config.maxPods,
    podsPerCore: config.podsPerCore,
    kubeReserved: config.kubeReserved,
    systemReserved: config.systemReserved,
    evictionHard: config.evictionHard,
    localStorageCapacityIsolation: config.localStorageCapacityIsolation,
    nodeStatusMaxImages: config.nodeStatusMaxImages,
    port: config.port,
    kubeletVersion: KUBELET_VERSION,
  };
}
