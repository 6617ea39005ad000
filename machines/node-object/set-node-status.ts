import { nodeAddresses, PROVIDED_IP_ANNOTATION, providedAddresses } from './node-addresses.ts';
import type { AddressFacts } from './node-addresses.ts';
import { nodeConditions, statusEvent } from './node-conditions.ts';
import { handlersOf, imagesOf, nodeInfoOf } from './node-info.ts';
import { allocatableOf, machineCapacity } from './node-resources.ts';
import type { Resources } from './node-resources.ts';
import { readinessErrors } from './ready-message.ts';
import type { ReadinessFacts } from './ready-message.ts';
import type {
  MachineFacts,
  ManagedCondition,
  Node,
  NodeEvent,
  NodeObjectConfig,
  NodePressure,
  RuntimeFacts,
} from './node-types.ts';

/** All that the status is made from. */
export interface NodeFacts {
  machine: MachineFacts;
  runtime: RuntimeFacts;
  addresses: AddressFacts;
  readiness: ReadinessFacts;
  pressure: NodePressure;
  /** What the node has of its plugins' devices, by resource (all, healthy). */
  devices?: { capacity: Resources; allocatable: Resources; machineIsNew?: true };
  /** Attachable volumes that the node uses, sorted; null while that is not known: what is there stays. */
  volumesInUse?: readonly string[] | null;
  /** Conditions of the node's managers. */
  managed?: readonly ManagedCondition[];
}

/** A node object with its events. */
export interface NodeStep {
  node: Node;
  events: NodeEvent[];
}

/**
 * The node object with the status of now; `before` is left as it is. What others wrote (resources, conditions,
 * labels, volumes) stays. Neither `spec` nor the labels of `before` are changed but for os and arch.
 */
export function setNodeStatus(before: Node, config: NodeObjectConfig, facts: NodeFacts, now: number): NodeStep {
  const { machine, runtime } = facts;
  const old = before.status ?? {};
  const events: NodeEvent[] = [];
  const capacity = { ...old.capacity, ...machineCapacity(machine, config), ...facts.devices?.capacity };
  const missing = ['cpu', 'memory', 'pods', ...(config.localStorageCapacityIsolation ? ['ephemeral-storage'] : [])]
    .filter((name) => !(name in capacity))
    .join(', ');
  const oldBoot = old.nodeInfo?.bootID ?? '';
  if (oldBoot !== '' && oldBoot !== machine.bootID) {
    const message = `Node ${config.nodeName} has been rebooted, boot id: ${machine.bootID}`;
    events.push({ type: 'Warning', reason: 'Rebooted', message });
  }
  const notReady = readinessErrors(facts.readiness);
  if (missing !== '') notReady.push(`missing node capacity for resources: ${missing}`);
  const step = nodeConditions(
    config.nodeName,
    old.conditions ?? [],
    { pressure: facts.pressure, managed: facts.managed ?? [], notReady },
    now,
  );
  const images = imagesOf(runtime.images, config.nodeStatusMaxImages);
  const handlers = handlersOf(runtime) ?? (runtime.handlers === null ? old.runtimeHandlers : undefined);
  const addresses = nodeAddresses(old.addresses ?? [], facts.addresses) ?? old.addresses;
  const status: NonNullable<Node['status']> = {
    ...old,
    capacity,
    allocatable: { ...allocatableOf(capacity, old.allocatable ?? {}, config), ...facts.devices?.allocatable },
    conditions: step.conditions,
    daemonEndpoints: { kubeletEndpoint: { Port: config.port } },
    nodeInfo: nodeInfoOf(machine, runtime, config),
  };
  if (addresses !== undefined) status.addresses = addresses;
  assign(status, 'images', images.length > 0 ? images : undefined);
  assign(status, 'runtimeHandlers', handlers);
  const { volumesInUse } = facts;
  if (volumesInUse) assign(status, 'volumesInUse', volumesInUse.length > 0 ? [...volumesInUse] : undefined);
  if (runtime.supplementalGroupsPolicy !== null) {
    status.features = { ...old.features, supplementalGroupsPolicy: runtime.supplementalGroupsPolicy };
  }
  const { declaredFeatures = [] } = config;
  if (declaredFeatures.length > 0) status.declaredFeatures = [...declaredFeatures];
  return {
    node: { ...before, metadata: metadataOf(before, config, facts), status },
    events: [...events, ...step.events],
  };
}

/** `NodeSchedulable` and `NodeNotSchedulable`; undefined when nothing changed. */
export function schedulableEvent(nodeName: string, was: boolean, unschedulable: boolean): NodeEvent | undefined {
  if (was === unschedulable) return undefined;
  return statusEvent(nodeName, unschedulable ? 'NodeNotSchedulable' : 'NodeSchedulable');
}

function metadataOf(before: Node, config: NodeObjectConfig, facts: NodeFacts): NonNullable<Node['metadata']> {
  const labels = {
    ...before.metadata?.labels,
    'kubernetes.io/os': facts.machine.operatingSystem,
    'kubernetes.io/arch': facts.machine.architecture,
  };
  const annotations = { ...before.metadata?.annotations };
  const provided =
    facts.addresses.unusable === true ? annotations[PROVIDED_IP_ANNOTATION] : providedAddresses(facts.addresses);
  if (provided === undefined) delete annotations[PROVIDED_IP_ANNOTATION];
  else annotations[PROVIDED_IP_ANNOTATION] = provided;
  const metadata = { ...before.metadata, name: config.nodeName, labels, annotations };
  if (Object.keys(annotations).length === 0 && before.metadata?.annotations === undefined) {
    delete (metadata as { annotations?: unknown }).annotations;
  }
  return metadata;
}

function assign<T extends object, K extends keyof T>(target: T, key: K, value: T[K] | undefined): void {
  if (value === undefined) Reflect.deleteProperty(target, key);
  else target[key] = value;
}
