import type { CriSignal } from './cri-signal.ts';

/**
 * The shapes of CRI v1 that the machines produce, as plain JSON. They are a subset of the generated
 * messages in `cri/`; the shard's executor passes them on, and the compiler proves that they fit.
 * 64-bit integers are decimal strings, as in protobuf's JSON form.
 */

/** CRI `PodSandboxMetadata`. */
export interface SandboxMetadata {
  name: string;
  uid: string;
  namespace: string;
  attempt: number;
}

/** CRI `NamespaceMode`: 0 POD, 1 CONTAINER, 2 NODE, 3 TARGET. */
export const NamespaceMode = { POD: 0, CONTAINER: 1, NODE: 2, TARGET: 3 } as const;
/** One of {@link NamespaceMode}. */
export type NamespaceMode = (typeof NamespaceMode)[keyof typeof NamespaceMode];

/** CRI `NamespaceOption`. */
export interface NamespaceOption {
  network: NamespaceMode;
  pid: NamespaceMode;
  ipc: NamespaceMode;
  targetId?: string;
  /** POD: the pod has users of its own; its ids are put in right before the call. Absent: as the node. */
  usernsOptions?: { mode: NamespaceMode; uids: IdMapping[]; gids: IdMapping[] };
}

/** CRI `IDMapping`: `length` ids from `containerId` on are those from `hostId` on. */
export interface IdMapping {
  hostId: number;
  containerId: number;
  length: number;
}

/** CRI `SecurityProfile.ProfileType`: 0 RuntimeDefault, 1 Unconfined, 2 Localhost. */
export interface SecurityProfile {
  profileType: 0 | 1 | 2;
  localhostRef?: string;
}

/** CRI `SELinuxOption`. */
export interface SELinuxOption {
  user: string;
  role: string;
  type: string;
  level: string;
}

/** CRI `LinuxContainerResources`; memory in bytes, cpu period and quota in microseconds. */
export interface LinuxContainerResources {
  cpuPeriod?: string;
  cpuQuota?: string;
  cpuShares?: string;
  memoryLimitInBytes?: string;
  oomScoreAdj?: string;
  cpusetCpus?: string;
  cpusetMems?: string;
  hugepageLimits?: { pageSize: string; limit: string }[];
  unified?: Record<string, string>;
  memorySwapLimitInBytes?: string;
}

/** CRI `LinuxSandboxSecurityContext`. */
export interface LinuxSandboxSecurityContext {
  namespaceOptions: NamespaceOption;
  selinuxOptions?: SELinuxOption;
  runAsUser?: { value: string };
  runAsGroup?: { value: string };
  readonlyRootfs?: boolean;
  supplementalGroups?: string[];
  /** 0 Merge, 1 Strict. */
  supplementalGroupsPolicy?: 0 | 1;
  privileged?: boolean;
  seccomp?: SecurityProfile;
  apparmor?: SecurityProfile;
}

/** CRI `PodSandboxConfig`. */
export interface SandboxConfig {
  metadata: SandboxMetadata;
  hostname: string;
  logDirectory: string;
  dnsConfig?: { servers: string[]; searches: string[]; options: string[] };
  /** protocol: 0 TCP, 1 UDP, 2 SCTP. */
  portMappings: { protocol: 0 | 1 | 2; containerPort: number; hostPort: number; hostIp: string }[];
  labels: Record<string, string>;
  annotations: Record<string, string>;
  linux: {
    cgroupParent: string;
    securityContext: LinuxSandboxSecurityContext;
    sysctls: Record<string, string>;
    overhead?: LinuxContainerResources;
    resources?: LinuxContainerResources;
  };
}

/** CRI `Mount`; propagation: 0 private, 1 host-to-container, 2 bidirectional. */
export interface CriMount {
  containerPath: string;
  hostPath: string;
  readonly: boolean;
  selinuxRelabel: boolean;
  propagation: 0 | 1 | 2;
  recursiveReadOnly?: boolean;
  /** An image volume: the runtime mounts it, `hostPath` is ''. */
  image?: CriImageSpec;
  imageSubPath?: string;
  uidMappings?: IdMapping[];
  gidMappings?: IdMapping[];
}

/** CRI `ImageSpec` of an image volume. */
export interface CriImageSpec {
  /** As the runtime answered it. */
  image: string;
  /** As the pod's spec has it. */
  userSpecifiedImage: string;
  runtimeHandler: string;
  /** The pod's. */
  annotations: Record<string, string>;
}

/** CRI `LinuxContainerSecurityContext`. */
export interface LinuxContainerSecurityContext {
  capabilities?: { addCapabilities: string[]; dropCapabilities: string[] };
  privileged: boolean;
  namespaceOptions: NamespaceOption;
  selinuxOptions?: SELinuxOption;
  runAsUser?: { value: string };
  runAsGroup?: { value: string };
  runAsUsername?: string;
  readonlyRootfs: boolean;
  supplementalGroups: string[];
  supplementalGroupsPolicy?: 0 | 1;
  noNewPrivs: boolean;
  maskedPaths: string[];
  readonlyPaths: string[];
  seccomp?: SecurityProfile;
  apparmor?: SecurityProfile;
  /** The same in CRI's older words, for runtimes that know no other. */
  apparmorProfile?: string;
}

/** CRI `KeyValue`. */
export interface EnvEntry {
  key: string;
  value: string;
}

/** A device of the host that a container gets; `permissions` as in `mrw`. */
export interface CriDevice {
  containerPath: string;
  hostPath: string;
  permissions: string;
}

/** CRI `ContainerConfig`. */
export interface ContainerConfig {
  metadata: { name: string; attempt: number };
  image: { image: string; userSpecifiedImage: string };
  command: string[];
  args: string[];
  workingDir: string;
  envs: EnvEntry[];
  mounts: CriMount[];
  devices: CriDevice[];
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** Relative to the sandbox's log directory. */
  logPath: string;
  stdin: boolean;
  stdinOnce: boolean;
  tty: boolean;
  /** What a device plugin or a driver had put into the container by its name. */
  CDIDevices?: { name: string }[];
  /** When the pod asks for one. */
  stopSignal?: CriSignal;
  linux: { resources: LinuxContainerResources; securityContext: LinuxContainerSecurityContext };
}
