import type { Node, Taint } from '../node-object/node-types.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { amountsOf, units } from '../qos/resource-amounts.ts';
import { countedResources } from './counted-resources.ts';
import type { CountedResources } from './counted-resources.ts';

/** What admission looks at of the node. */
export interface NodeView {
  name: string;
  labels: Readonly<Record<string, string>>;
  taints: readonly Taint[];
  allocatable: CountedResources;
  maxPods: number;
  supplementalGroupsPolicy: boolean;
}

/** What is known of a node without its object. */
export interface NodeBasics {
  settings: Pick<NodeSettings, 'nodeName' | 'allocatable'> & {
    runtimeFeatures: Pick<NodeSettings['runtimeFeatures'], 'supplementalGroupsPolicy'>;
  };
  maxPods: number;
  os: string;
  /** As Go names it: `amd64`. */
  arch: string;
}

const OS = 'kubernetes.io/os';

/**
 * The node as its object says, or, where there is none (standalone) or it has no status yet, as the agent would
 * register it. Label `kubernetes.io/os` is always the true one.
 */
export function nodeView(node: Node | null, basics: NodeBasics): NodeView {
  const { settings, os, arch } = basics;
  const name = node?.metadata?.name ?? settings.nodeName;
  const fixed = {
    'kubernetes.io/hostname': name,
    'kubernetes.io/arch': arch,
    'beta.kubernetes.io/os': os,
    'beta.kubernetes.io/arch': arch,
  };
  const list = node?.status?.allocatable;
  return {
    name,
    labels: { ...(node ? node.metadata?.labels : fixed), [OS]: os },
    taints: node?.spec?.taints ?? [],
    allocatable: list ? countedResources(amountsOf(list)) : ownAllocatable(settings.allocatable),
    maxPods: list ? units(amountsOf({ pods: list['pods'] ?? '0' })['pods']) : basics.maxPods,
    supplementalGroupsPolicy: node?.status
      ? (node.status.features?.supplementalGroupsPolicy ?? false)
      : settings.runtimeFeatures.supplementalGroupsPolicy,
  };
}

function ownAllocatable(own: NodeSettings['allocatable']): CountedResources {
  return {
    cpu: own.cpuMilli,
    memory: own.memoryBytes,
    ephemeralStorage: own.ephemeralStorageBytes,
    scalars: {},
  };
}
