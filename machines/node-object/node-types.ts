import type { V1Node, V1NodeCondition, V1NodeStatus, V1Taint } from '@kubernetes/client-node';
import type { Plain } from '../protocol/api-types.ts';

/** A `v1.NodeStatus` as plain JSON; the kubelet's port is spelled `Port` there, other than in the client's types, which lack `declaredFeatures`. */
export type NodeStatus = Omit<Plain<V1NodeStatus>, 'daemonEndpoints'> & {
  daemonEndpoints?: { kubeletEndpoint?: { Port: number } };
  declaredFeatures?: string[];
};
/** A `v1.Node` as plain JSON. */
export type Node = Omit<Plain<V1Node>, 'status'> & { status?: NodeStatus };
/** A `v1.NodeCondition` as plain JSON. */
export type NodeCondition = Plain<V1NodeCondition>;
/** A `v1.Taint` as plain JSON. */
export type Taint = Plain<V1Taint>;

/** What the machine is, read from its files. Sizes in bytes. */
export interface MachineFacts {
  machineID: string;
  systemUUID: string;
  bootID: string;
  kernelVersion: string;
  osImage: string;
  /** As Go names them: `linux`, `amd64`. */
  operatingSystem: string;
  architecture: string;
  cores: number;
  memoryBytes: number;
  swapBytes: number;
  /** Size of the file system of `rootDir`; null when it cannot be asked. */
  ephemeralStorageBytes: number | null;
  hugePages: { pageBytes: number; pages: number }[];
}

/** One image as the runtime lists it. */
export interface ListedImage {
  id: string;
  repoTags: string[];
  repoDigests: string[];
  sizeBytes: number;
}

/** What the runtime says of itself; kept while it is down. */
export interface RuntimeFacts {
  /** `containerd`. */
  name: string;
  /** As the runtime writes it: `1.6.20~ds1`; '' when it did not answer. */
  version: string;
  /** null before it answered. */
  handlers: { name: string; recursiveReadOnlyMounts: boolean; userNamespaces: boolean }[] | null;
  /** null when the runtime does not say. */
  supplementalGroupsPolicy: boolean | null;
  images: ListedImage[];
}

/** The parts of configuration and flags that shape the node object, as plain data. */
export interface NodeObjectConfig {
  nodeName: string;
  /** `--node-labels`. */
  labels: Record<string, string>;
  /** `registerWithTaints`. */
  taints: Taint[];
  /** `--cloud-provider=external`. */
  externalCloudProvider: boolean;
  providerID: string;
  enableControllerAttachDetach: boolean;
  maxPods: number;
  podsPerCore: number;
  kubeReserved: Record<string, string>;
  systemReserved: Record<string, string>;
  /** `memory.available` -> `100Mi` or `10%`; empty where thresholds are not taken off what pods may have. */
  evictionHard: Record<string, string>;
  /** `localStorageCapacityIsolation`: ephemeral storage is counted. */
  localStorageCapacityIsolation: boolean;
  /** Largest number of images in the status; negative for all. */
  nodeStatusMaxImages: number;
  /** Port of the kubelet's server. */
  port: number;
  /** What `nodeInfo.kubeletVersion` says. */
  kubeletVersion: string;
  /** Feature gate DisableNodeKubeProxyVersion is off: `nodeInfo.kubeProxyVersion` says the same, whatever kube-proxy there is. */
  tellsKubeProxyVersion?: true;
  /** `declaredFeatures`, sorted; absent: what is there stays. */
  declaredFeatures?: readonly string[];
  /** Feature gate KubeletRegistrationGetOnExistsOnly: a node that may not be made is not looked up. */
  getOnExistsOnly?: true;
}

/** A condition of the node that one of its managers answers for; times are added where it is told. */
export interface ManagedCondition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
}

/** Pressure of the node (eviction manager). */
export interface NodePressure {
  memory: boolean;
  disk: boolean;
  pid: boolean;
}

/** An event about the node itself. */
export interface NodeEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}
