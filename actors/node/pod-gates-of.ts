import type { ValidationGates } from '../../machines/pod-validation/environment.ts';
import type { FeatureGates } from '../configure/configuration/feature-gates.ts';

/** The gates that decide which fields of a pod count, and what a static pod may say. */
export function podGatesOf(gates: FeatureGates): ValidationGates {
  return {
    envFiles: gates.enabled('EnvFiles'),
    preventStaticPodAPIReferences: gates.enabled('PreventStaticPodAPIReferences'),
    containerRestartRules: gates.enabled('ContainerRestartRules'),
    hostnameOverride: gates.enabled('HostnameOverride'),
    imageVolume: gates.enabled('ImageVolume'),
    podLevelResources: gates.enabled('PodLevelResources'),
    ...(gates.enabled('UserNamespacesHostNetworkSupport') && { userNamespacesHostNetwork: true }),
    ...(gates.enabled('RestartAllContainersOnContainerExits') && { restartAllContainers: true }),
    ...(gates.enabled('TaintTolerationComparisonOperators') && { taintComparison: true }),
  };
}
