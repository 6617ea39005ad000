import type { ResourceRules } from '../resource-managers/resource-ground.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';

/** What a node judges pods by, as long as its agent lives. */
export interface AdmissionRules {
  settings: Pick<NodeSettings, 'nodeName' | 'allocatable'> & {
    runtimeFeatures: Pick<NodeSettings['runtimeFeatures'], 'supplementalGroupsPolicy'>;
  };
  /** A resize to more than this can never be granted (kubelet GetNodeAllocatableAbsolute). Absent in older logs: more than is allocatable. */
  most?: NonNullable<NodeSettings['unreserved']>;
  /** The node limits swap (`LimitedSwap`), as far as its kernel can: containers that may swap are not resized. */
  limitedSwap?: true;
  /** A critical pod that does not fit displaces others. Absent: it is refused, as agents did before. */
  preempts?: true;
  /** A critical pod's resize displaces others, too. Absent in older logs: it waits. */
  resizesPreempt?: true;
  /** Who goes for a critical pod is chosen by the requests that kubelet counts for it. Absent in journals of before. */
  roomAsKubelets?: true;
  /** A pod that is resized is asked about as one that comes: CPU, memory and topology manager, too. Absent in older logs: they are not. */
  resizesAsk?: true;
  /** That managers are asked about a resize is told, once for each look at it. Absent in older logs: it is not. */
  resizesCount?: true;
  maxPods: number;
  os: string;
  /** As Go names it: `amd64`. */
  arch: string;
  allowedUnsafeSysctls: readonly string[];
  /** `uname -r`. */
  kernelVersion: string;
  appArmorEnabled: boolean;
  /** What the node declares that it can do; absent: pods are not judged by it (gate NodeDeclaredFeatures off). */
  declaredFeatures?: readonly string[];
  /** Feature gate PodLevelResources is off: pods that ask for something as a whole are refused. Absent in older logs, where they come without that. */
  noPodLevelResources?: true;
  /** Feature gate TaintTolerationComparisonOperators. */
  taintComparison?: true;
  /** Feature gate DRAExtendedResource (KEP-5004): what the node has none of is a driver's to give. */
  driversGiveResources?: true;
  /** Feature gate InPlacePodLevelResourcesVerticalScaling (KEP-5419): what is asked for a whole pod is allocated, and resized. */
  podLevelResizes?: true;
  /** How CPUs and memory of NUMA nodes are given away; absent in logs from before that. */
  resources?: ResourceRules;
}
