import { lackingForPod } from '../node-object/declared-features.ts';
import type { Node, Taint } from '../node-object/node-types.ts';
import type { Pod } from '../protocol/api-types.ts';
import { isCriticalPod, isStaticPod } from '../qos/critical-pod.ts';
import { checkAppArmor } from './app-armor.ts';
import { hostPorts } from './host-ports.ts';
import { matchesNode } from './node-affinity.ts';
import { holdsAny, podsWithout, resourcesWithout } from './node-usage.ts';
import type { NodeUsage } from './node-usage.ts';
import { nodeView } from './node-view.ts';
import type { NodeBasics, NodeView } from './node-view.ts';
import { misfitMessage, misfitReason } from './rejection.ts';
import type { Admission, Misfit, Rejection } from './rejection.ts';
import { checkSysctls, safeSysctls } from './sysctls.ts';
import { isExtendedResource } from '../values/extended-resource.ts';
import { hasPodLevelResources, podRequests } from '../qos/pod-resources.ts';
import { countedResources } from './counted-resources.ts';
import type { CountedResources } from './counted-resources.ts';

/** What admission is decided by. */
export interface AdmissionInput extends NodeBasics {
  pod: Pod;
  /** The agent's own node object, null when there is none (yet): standalone, not registered. */
  node: Node | null;
  /** What the active pods hold; the pod itself may be counted in it. */
  usage: NodeUsage;
  /** `allowedUnsafeSysctls`: names, or patterns ending in `*`. */
  allowedUnsafeSysctls: readonly string[];
  /** `uname -r`: decides which sysctls are safe. */
  kernelVersion?: string;
  /** The kernel has AppArmor on. */
  appArmorEnabled: boolean;
  /** What the node declares that it can do; absent: nobody is judged by it. */
  declaredFeatures?: readonly string[];
  /** Feature gate PodLevelResources is off. */
  noPodLevelResources?: true;
  /** Feature gate TaintTolerationComparisonOperators. */
  taintComparison?: true;
  /** Feature gate DRAExtendedResource. */
  driversGiveResources?: true;
  /** Pods have gone for it: resources are not asked for any more. */
  roomMade?: true;
  /** What of the node is set aside for pods one by one (CPUs, devices): asked where kubelet asks its managers. */
  allocate?: () => Rejection | null;
}

const AFFINITY = 'NodeAffinity';

/**
 * Decides whether the node runs a pod, by the handlers of kubelet 1.35 in their order: sysctls; managers; OS label, OS field,
 * supplemental groups; resources, node affinity, node name, host ports, taints (not for static pods); AppArmor; resources of the pod as a whole;
 * declared features.
 * Ask it for each pod that arrives and is neither of a terminal phase nor told to terminate, oldest first, also after
 * the agent's restart: kubelet does so too. Eviction, topology and shutdown have their own handlers elsewhere.
 */
export function admitPod(input: AdmissionInput): Admission {
  return (
    checkSysctls(input.pod, () => [...safeSysctls(input.kernelVersion), ...input.allowedUnsafeSysctls]) ??
    input.allocate?.() ??
    checkNode(input.noPodLevelResources ? { ...input, pod: byContainers(input.pod) } : input) ??
    checkAppArmor(input.pod, input.appArmorEnabled) ??
    checkPodLevel(input) ??
    checkFeatures(input) ?? { admit: true }
  );
}

function checkPodLevel({ pod, noPodLevelResources }: AdmissionInput): Rejection | null {
  if (!noPodLevelResources || !hasPodLevelResources(pod)) return null;
  const message = 'PodLevelResources feature gate is disabled';
  return { admit: false, reason: 'PodLevelResourcesNotSupported', message };
}

/** As the node counts it without that gate: by what its containers ask for. */
function byContainers(pod: Pod): Pod {
  if (pod.spec?.resources === undefined) return pod;
  const { resources: _whole, ...spec } = pod.spec;
  return { ...pod, spec };
}

function checkFeatures({ pod, declaredFeatures }: AdmissionInput): Rejection | null {
  const message = declaredFeatures === undefined ? null : lackingForPod(declaredFeatures, pod);
  return message === null ? null : { admit: false, reason: 'PodFeatureUnsupported', message };
}

function checkNode(input: AdmissionInput): Rejection | null {
  const { pod, os } = input;
  const node = nodeView(input.node, input);
  // A label of the pod, not its selector: kubelet compares this one.
  const osLabel = pod.metadata?.labels?.['kubernetes.io/os'];
  if (osLabel !== undefined && osLabel !== os) {
    const message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label";
    return { admit: false, reason: 'PodOSSelectorNodeLabelDoesNotMatch', message };
  }
  if (pod.spec?.os && pod.spec.os.name !== os) {
    const message = "Failed to admit pod as the OS field doesn't match node OS";
    return { admit: false, reason: 'PodOSNotSupported', message };
  }
  if (pod.spec?.securityContext?.supplementalGroupsPolicy === 'Strict' && !node.supplementalGroupsPolicy) {
    const message = 'SupplementalGroupsPolicy=Strict is not supported in this node';
    return { admit: false, reason: 'SupplementalGroupsPolicyNotSupported', message };
  }
  return refuse(pod, misfitsOf(input, node));
}

function misfitsOf(input: AdmissionInput, node: NodeView): Misfit[] {
  const { pod, usage, roomMade, taintComparison } = input;
  const misfits = roomMade ? [] : resourceMisfits(input, node);
  const predicate = (name: string, why: string): void => void misfits.push({ kind: 'predicate', name, why });
  if (!matchesNode(pod, node.name, node.labels)) {
    predicate(AFFINITY, "node(s) didn't match Pod's node affinity/selector");
  }
  if (pod.spec?.nodeName && pod.spec.nodeName !== node.name) {
    predicate('NodeName', "node(s) didn't match the requested node name");
  }
  if (holdsAny(usage, hostPorts(pod), pod.metadata?.uid ?? '')) {
    predicate('NodePorts', "node(s) didn't have free ports for the requested pod ports");
  }
  if (!isStaticPod(pod) && untoleratedNoExecute(pod, node.taints, taintComparison === true)) {
    predicate('TaintToleration', "node(s) had taints that the pod didn't tolerate");
  }
  return misfits;
}

/** Only the first misfit is told; for critical pods the first that freeing resources would not mend. */
function refuse(pod: Pod, misfits: readonly Misfit[]): Rejection | null {
  const critical = isCriticalPod(pod);
  const first = (critical ? misfits.find((each) => each.kind !== 'resource') : undefined) ?? misfits[0];
  if (!first) return null;
  const rejection: Rejection = { admit: false, reason: misfitReason(first), message: misfitMessage(first) };
  if (misfits.every((each) => each.kind === 'predicate' && each.name === AFFINITY)) rejection.retryWithFreshNode = true;
  if (critical && first.kind === 'resource') {
    rejection.preempt = misfits.flatMap((each) =>
      each.kind === 'resource'
        ? [{ resource: each.resource, amount: each.requested - (each.capacity - each.used) }]
        : [],
    );
  }
  return rejection;
}

/**
 * What of a pod's requests is more than the node has left, in the order of kubelet: pods, cpu, memory, ephemeral
 * storage, all others by name. Extended resources that the node does not have at all are not asked for: they may
 * belong to the whole cluster. With drivers that give resources nothing is asked for that the node has none of: which names
 * mean a class of devices, a node does not know (kubelet `shouldDelegateResourceToDRA`).
 */
function resourceMisfits({ pod, usage, driversGiveResources }: AdmissionInput, node: NodeView): Misfit[] {
  const uid = pod.metadata?.uid ?? '';
  const misfits: Misfit[] = [];
  const check = (resource: string, requested: number, used: number, capacity: number): void => {
    if (requested > 0 && requested > capacity - used) {
      misfits.push({ kind: 'resource', resource, requested, used, capacity });
    }
  };
  check('pods', 1, podsWithout(usage, uid), node.maxPods);
  const asked = onlyKnown(countedResources(podRequests(pod)), node.allocatable);
  if (isNothing(asked)) return misfits;
  const used = resourcesWithout(usage, uid);
  const { allocatable } = node;
  check('cpu', asked.cpu, used.cpu, allocatable.cpu);
  check('memory', asked.memory, used.memory, allocatable.memory);
  check('ephemeral-storage', asked.ephemeralStorage, used.ephemeralStorage, allocatable.ephemeralStorage);
  for (const name of Object.keys(asked.scalars).sort()) {
    const of = (resources: Readonly<CountedResources>): number => resources.scalars[name] ?? 0;
    if (driversGiveResources && of(allocatable) <= 0) continue;
    check(name, of(asked), of(used), of(allocatable));
  }
  return misfits;
}

function onlyKnown(asked: CountedResources, allocatable: CountedResources): CountedResources {
  const scalars = Object.entries(asked.scalars).filter(
    ([name]) => !isExtendedResource(name) || allocatable.scalars[name] !== undefined,
  );
  return { ...asked, scalars: Object.fromEntries(scalars) };
}

function isNothing(asked: CountedResources): boolean {
  return (
    asked.cpu === 0 && asked.memory === 0 && asked.ephemeralStorage === 0 && Object.keys(asked.scalars).length === 0
  );
}

/** A toleration of a pod. */
export type Toleration = NonNullable<NonNullable<Pod['spec']>['tolerations']>[number];

const DECIMAL = /^(0|-?[1-9]\d{0,18})$/;

/**
 * Does the toleration bear the taint? An empty effect means all effects, an empty key all keys, an empty operator
 * `Equal`. `Lt` and `Gt` compare integers where the feature TaintTolerationComparisonOperators is on (KEP-5471).
 */
export function tolerates(toleration: Toleration, taint: Taint, comparison: boolean): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  switch (toleration.operator || 'Equal') {
    case 'Equal':
      return (toleration.value ?? '') === (taint.value ?? '');
    case 'Exists':
      return true;
    case 'Lt':
      return comparison && compares(toleration.value, taint.value, (limit, value) => value < limit);
    case 'Gt':
      return comparison && compares(toleration.value, taint.value, (limit, value) => value > limit);
    default:
      return false;
  }
}

/** The first taint of effect NoExecute that the pod does not bear; the others are the scheduler's business. */
export function untoleratedNoExecute(pod: Pod, taints: readonly Taint[], comparison: boolean): Taint | undefined {
  const tolerations = pod.spec?.tolerations ?? [];
  return taints.find(
    (taint) => taint.effect === 'NoExecute' && !tolerations.some((each) => tolerates(each, taint, comparison)),
  );
}

function compares(
  limit: string | undefined,
  value: string | undefined,
  holds: (limit: bigint, value: bigint) => boolean,
): boolean {
  if (!DECIMAL.test(limit ?? '') || !DECIMAL.test(value ?? '')) return false;
  return holds(BigInt(limit ?? ''), BigInt(value ?? ''));
}
