/** Answer of the node: it runs the pod, or why it does not. Words and reasons are kubelet's. */
export type Admission = { admit: true } | Rejection;

/** Why the node does not run a pod. `reason` is `status.reason` and the event's; the status has `Pod was rejected: ` before the message. */
export interface Rejection {
  admit: false;
  reason: string;
  message: string;
  /**
   * Only the node's labels are in the way: kubelet then reads the node from the API server and asks once more, for a label
   * that the scheduler knows may not have come by watch yet.
   */
  retryWithFreshNode?: true;
  /**
   * Set for a critical pod where nothing but resources is in the way: what is missing. Kubelet frees that much by
   * killing pods of less importance and then admits the pod.
   */
  preempt?: Shortage[];
}

/** How much of a resource is missing: milli cores for cpu, bytes or counts for the rest. */
export interface Shortage {
  resource: string;
  amount: number;
}

/** One thing that does not fit: resources are told apart from all other reasons. */
export type Misfit =
  | { kind: 'resource'; resource: string; requested: number; used: number; capacity: number }
  | { kind: 'predicate'; name: string; why: string };

/** `status.reason` of a misfit. */
export function misfitReason(misfit: Misfit): string {
  return misfit.kind === 'resource' ? `OutOf${misfit.resource}` : misfit.name;
}

/** Message of a misfit. */
export function misfitMessage(misfit: Misfit): string {
  if (misfit.kind === 'predicate') return `Predicate ${misfit.name} failed: ${misfit.why}`;
  const { resource, requested, used, capacity } = misfit;
  return `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
}

/** Reasons that metric `kubelet_admission_rejections_total` tells by name. */
const COUNTED = new Set([
  'AppArmor',
  'PodOSSelectorNodeLabelDoesNotMatch',
  'PodOSNotSupported',
  'InvalidNodeInfo',
  'InitContainerRestartPolicyForbidden',
  'SupplementalGroupsPolicyNotSupported',
  'UnexpectedAdmissionError',
  'UnknownReason',
  'UnexpectedPredicateFailureType',
  'OutOfcpu',
  'OutOfmemory',
  'OutOfephemeral-storage',
  'OutOfpods',
  'PodLevelResourcesNotSupported',
  'PodFeatureUnsupported',
  'Evicted',
  'SysctlForbidden',
  'TopologyAffinityError',
  'NodeShutdown',
  'VolumeAttachmentLimitExceeded',
]);

/** Label `reason` of metric `kubelet_admission_rejections_total`: a few known ones, so that it stays small. */
export function rejectionLabel(reason: string): string {
  if (COUNTED.has(reason)) return reason;
  return reason.startsWith('OutOf') ? 'OutOfExtendedResources' : 'Other';
}
