import type { Pod } from '../protocol/api-types.ts';
import { amountsOf } from '../qos/resource-amounts.ts';

/** What of a node decides which features it declares (KEP-5328). */
export interface DeclaringNode {
  /** `cpuManagerPolicy`. */
  cpuManagerPolicy: string;
  /** Is the feature gate on, and does it act here? */
  enabled: (gate: string) => boolean;
}

/** A feature that a node declares, and what of pods asks for it. */
interface DeclaredFeature {
  name: string;
  discover: (node: DeclaringNode) => boolean;
  /** A pod that comes needs it. */
  comes?: (pod: Pod) => boolean;
  /** A pod that becomes another one needs it. */
  changes?: (before: Pod, after: Pod) => boolean;
}

const RESTART_ALL = 'RestartAllContainersOnContainerExits';
const POD_LEVEL_RESIZE = 'InPlacePodLevelResourcesVerticalScaling';

/** The registry of kubelet 1.35 (component-helpers/nodedeclaredfeatures), by name. None has a version that it ends with. */
const FEATURES: readonly DeclaredFeature[] = [
  {
    name: 'GuaranteedQoSPodCPUResize',
    discover: ({ cpuManagerPolicy, enabled }) =>
      cpuManagerPolicy === 'none' ||
      (cpuManagerPolicy === 'static' && enabled('InPlacePodVerticalScalingExclusiveCPUs')),
    changes: (before, after) => before.status?.qosClass === 'Guaranteed' && asksOtherCpus(before, after),
  },
  {
    name: POD_LEVEL_RESIZE,
    discover: ({ enabled }) => enabled(POD_LEVEL_RESIZE),
    changes: (before, after) => JSON.stringify(before.spec?.resources) !== JSON.stringify(after.spec?.resources),
  },
  {
    name: RESTART_ALL,
    discover: ({ enabled }) => enabled(RESTART_ALL),
    comes: (pod) =>
      [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].some(({ restartPolicyRules }) =>
        restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers'),
      ),
  },
];

/** What the node declares, sorted: `status.declaredFeatures`. */
export function declaredFeatures(node: DeclaringNode): string[] {
  return FEATURES.filter(({ discover }) => discover(node)).map(({ name }) => name);
}

/** What a pod that comes needs of the node and the node does not declare; null when nothing is missing. */
export function lackingForPod(declared: readonly string[], pod: Pod): string | null {
  return lacking(declared, ({ comes }) => comes?.(pod) === true);
}

/** What a change of a pod needs of the node and the node does not declare; null when nothing is missing. */
export function lackingForChange(declared: readonly string[], before: Pod, after: Pod): string | null {
  return lacking(declared, ({ changes }) => changes?.(before, after) === true);
}

/** Kubelet's words; where it names several in any order, they are sorted here. */
function lacking(declared: readonly string[], needs: (feature: DeclaredFeature) => boolean): string | null {
  const missing = FEATURES.filter((each) => !declared.includes(each.name) && needs(each)).map(({ name }) => name);
  return missing.length === 0 ? null : `Pod requires node features that are not available: ${missing.join(', ')}`;
}

/** Is a regular container to request other CPUs? */
function asksOtherCpus(before: Pod, after: Pod): boolean {
  const cpuOf = (pod: Pod, index: number): bigint =>
    amountsOf(pod.spec?.containers[index]?.resources?.requests)['cpu'] ?? 0n;
  return (before.spec?.containers ?? []).some((_, index) => cpuOf(before, index) !== cpuOf(after, index));
}
