import { setNodeStatus } from './set-node-status.ts';
import type { NodeFacts, NodeStep } from './set-node-status.ts';
import { allocatableOf, machineCapacity } from './node-resources.ts';
import type { MachineFacts, Node, NodeObjectConfig } from './node-types.ts';

/** Annotation: attach and detach is the controller manager's work. */
export const ATTACH_DETACH_ANNOTATION = 'volumes.kubernetes.io/controller-managed-attach-detach';

/** Taint of a node that its cloud controller has not seen yet. */
const UNINITIALIZED_TAINT = 'node.cloudprovider.kubernetes.io/uninitialized';

/**
 * The object that registers the node, with its status: the API server keeps the status of a POST, so a node
 * that is ready registers as ready. The taint `node.kubernetes.io/not-ready` is the API server's to add
 * (TaintNodesByCondition), and the node controller's to take away when it sees Ready.
 */
export function initialNode(config: NodeObjectConfig, facts: NodeFacts, now: number): NodeStep {
  const node = objectWithoutStatus(config, facts.machine);
  const labels = node.metadata?.labels;
  const step = setNodeStatus(node, config, facts, now);
  // `--node-labels` may say another os or arch; only later updates put them right, as with kubelet.
  return labels === undefined ? step : { ...step, node: { ...step.node, metadata: { ...step.node.metadata, labels } } };
}

/**
 * The node as it would register, with what pods are judged by: labels, taints, resources. Kubelet judges by it where there is no object of
 * the node: on a standalone node, and before it is registered (getNodeAnyWay). @param strictGroups the runtime knows supplementalGroupsPolicy
 */
export function unregisteredNode(config: NodeObjectConfig, machine: MachineFacts, strictGroups: boolean): Node {
  const capacity = machineCapacity(machine, config);
  const allocatable = allocatableOf(capacity, {}, config);
  const status = { capacity, allocatable, features: { supplementalGroupsPolicy: strictGroups } };
  return { ...objectWithoutStatus(config, machine), status };
}

function objectWithoutStatus(config: NodeObjectConfig, machine: MachineFacts): Node {
  const { operatingSystem: os, architecture: arch } = machine;
  const taints = [
    ...config.taints,
    ...(config.externalCloudProvider
      ? [{ key: UNINITIALIZED_TAINT, value: 'true', effect: 'NoSchedule' } as const]
      : []),
  ];
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: config.nodeName,
      labels: {
        'kubernetes.io/hostname': config.nodeName,
        'kubernetes.io/os': os,
        'kubernetes.io/arch': arch,
        'beta.kubernetes.io/os': os,
        'beta.kubernetes.io/arch': arch,
        ...config.labels,
      },
      ...(config.enableControllerAttachDetach ? { annotations: { [ATTACH_DETACH_ANNOTATION]: 'true' } } : {}),
    },
    spec: {
      ...(taints.length > 0 ? { taints } : {}),
      ...(config.providerID === '' ? {} : { providerID: config.providerID }),
    },
  };
}
