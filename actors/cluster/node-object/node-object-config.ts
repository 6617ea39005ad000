import type { NodeObjectConfig } from '../../../machines/node-object/node-types.ts';
import type { KubeletConfiguration } from '../../configure/configuration/kubelet-configuration.ts';
import type { KubeletFlags } from '../../configure/configuration/kubelet-flags.ts';
import { declaredFeaturesOf } from '../../configure/configuration/declared-features-of.ts';
import { resolveFeatureGates } from '../../configure/configuration/feature-gates.ts';
import { agentVersion } from '../../configure/configuration/version.ts';

/** The settings that shape the node object. */
export function nodeObjectConfigOf(
  nodeName: string,
  config: KubeletConfiguration,
  flags: KubeletFlags,
): NodeObjectConfig {
  const { gates } = resolveFeatureGates(config.featureGates);
  const declaredFeatures = declaredFeaturesOf(config, gates);
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
    evictionHard: flags.experimentalAllocatableIgnoreEviction ? {} : config.evictionHard,
    localStorageCapacityIsolation: config.localStorageCapacityIsolation,
    nodeStatusMaxImages: config.nodeStatusMaxImages,
    port: config.port,
    // Controllers and kubectl read a Kubernetes version out of it; the suffix tells people which agent it is.
    kubeletVersion: agentVersion(),
    ...(!gates.enabled('DisableNodeKubeProxyVersion') && { tellsKubeProxyVersion: true }),
    ...(declaredFeatures && { declaredFeatures }),
    ...(gates.enabled('KubeletRegistrationGetOnExistsOnly') && { getOnExistsOnly: true }),
  };
}
