/**
 * What a pod machine must know of its node. It is journaled once for each segment and never changes
 * while an agent runs, so replay needs nothing else. Every value is plain JSON.
 */
export interface NodeSettings {
  nodeName: string;
  /** `Version.runtimeName` of the runtime, e.g. `containerd`: prefix of container ids in statuses. */
  runtimeName: string;
  hostname: string;
  /** Node addresses as they were found at the start, primary family first; the first becomes `status.hostIP` until the node's object says another. */
  nodeIPs: string[];
  /** Addresses of `--node-ip`, `::` and `0.0.0.0` among them: by these a pod's own addresses are sorted; absent: by `nodeIPs`. */
  givenIPs?: string[];
  /** `--root-dir`, `/var/lib/kubelet` by default. Pod folders are `<rootDir>/pods/<uid>`. */
  rootDir: string;
  /** `podLogsDir`, `/var/log/pods` by default. */
  podLogsDir: string;
  cgroupDriver: 'cgroupfs' | 'systemd';
  /** Parent of `kubepods` as a cgroup path, `/` by default. */
  cgroupRoot: string;
  cgroupsPerQOS: boolean;
  cgroupVersion: 1 | 2;
  clusterDNS: string[];
  clusterDomain: string;
  /** The node's own resolver file (`resolvConf`) as it was when the agent was started, parsed. */
  hostResolver: HostResolver;
  /** Path of that file, which is read anew for each sandbox; absent: `hostResolver` is what counts. */
  resolvConf?: string;
  capacity: { cpuMilli: number; memoryBytes: number; ephemeralStorageBytes: number };
  allocatable: { cpuMilli: number; memoryBytes: number; ephemeralStorageBytes: number };
  /** What is not reserved of the node, huge pages and what hard eviction keeps free included; absent in logs from before that. */
  unreserved?: { cpuMilli: number; memoryBytes: number };
  /** `crashLoopBackOff.maxContainerRestartPeriod` in ms, 300000 by default. */
  maxContainerRestartPeriodMs: number;
  /** The first back-off of a container that ended, ms; absent: 10000 (feature gate ReduceDefaultCrashLoopBackOffDecay). */
  firstContainerBackOffMs?: number;
  cpuCFSQuota: boolean;
  /** `cpuCFSQuotaPeriod` in microseconds. */
  cpuCFSQuotaPeriodUs: number;
  /** `podPidsLimit`; -1 = no limit. */
  podPidsLimit: number;
  seccompDefault: boolean;
  /** Longest time for one CRI call, `runtimeRequestTimeout` in ms (120000). */
  runtimeRequestTimeoutMs: number;
  /** Handlers that the runtime reports, for user namespaces and recursive read-only mounts. */
  runtimeFeatures: {
    recursiveReadOnlyMounts: boolean;
    userNamespaces: boolean;
    supplementalGroupsPolicy: boolean;
    /** The runtime's version, where it is known to be too old to mount images (CRI has no field for it). */
    withoutImageVolumes?: string;
  };
  /** `memory.memsw.*` (cgroup v1) or `memory.swap.max` (v2) exists: containers get their swap limit (none above memory). */
  swapController?: boolean;
  /** Bytes of swap that burstable pods share by their memory requests (`memorySwap.swapBehavior: LimitedSwap`, cgroup v2); nobody swaps without. */
  limitedSwapBytes?: number;
  /**
   * Gate MemoryQoS on cgroup v2: requests are kept from being reclaimed, and what comes near its limit is slowed down, or, without
   * one, near `unreservedBytes`: the memory that is not reserved.
   */
  memoryQoS?: { throttlingFactor: number; pageBytes: number; unreservedBytes: number };
  /** `singleProcessOOMKill` on cgroup v2; unless true, all of a container's processes are killed together. */
  singleProcessOOMKill?: boolean;
  /** Huge page sizes of the node as the kernel names them (`2MB`, `1GB`); containers get limit 0 for what they do not ask. */
  hugePageSizes?: string[];
  /** Paths to mask besides the fixed ones: the CPUs' `thermal_throttle` folders that exist. */
  extraMaskedPaths?: string[];
  /** The node's own `/etc/hosts`, for pods on the host network. */
  nodeHosts?: string;
  /** Path of that file, which is read anew for each container; absent: `nodeHosts` is what counts. */
  hostsPath?: string;
  /** The machine runs SELinux: the runtime labels what the agent makes and mounts into a container. */
  selinux?: boolean;
  /** Feature gates `LocalStorageCapacityIsolationFSQuotaMonitoring` and `UserNamespacesSupport`: file systems count emptyDir volumes. */
  volumeQuotas?: true;
  /** Feature gate `GitRepoVolumeDriver`: volumes may be clones of git repositories. */
  gitRepos?: true;
  /** Feature gate `EnvFiles` (KEP-3721), on unless false: without it a variable from a file is empty. */
  envFiles?: boolean;
  /** Feature gate `PreventStaticPodAPIReferences` is off: static pods may have volumes of API objects. */
  staticReferences?: boolean;
  /** Feature gate `PodReadyToStartContainersCondition`, on unless false: without it pods have no such condition. */
  readyToStartCondition?: boolean;
  /**
   * Feature gate `ChangeContainerStatusOnKubeletRestart`: probes begin anew with the agent, and what they have not said again of a container
   * does not hold.
   */
  restartChangesStatus?: true;
  /** Feature gate `RestartAllContainersOnContainerExits` (KEP-5532): the action `RestartAllContainers` of a container's rules acts. */
  restartAllContainers?: true;
  /** Feature gate `RuntimeClassInImageCriApi` (KEP-4216): a runtime may have images of its own for each runtime handler. */
  imagesByHandler?: true;
  /** Feature gate `ContainerStopSignals` (KEP-4960): containers are stopped by the signal that they name, and their statuses tell it. */
  stopSignals?: true;
  /** Feature gate `InPlacePodLevelResourcesVerticalScaling` (KEP-5419): `spec.resources` is resized in place, and statuses tell of it. */
  podLevelResizes?: true;
  /** Dead containers kept of each name while the pod lives (kubelet's container deletor); 1 when absent. */
  keptDead?: number;
  /** The node works with an API server: objects, tokens and service variables are there for its pods. */
  cluster?: boolean;
  /** Numbered behaviour changes that are switched on; an old log replays with the set it was written with. */
  behaviour: number[];
}

/** A resolver file, parsed. */
export interface HostResolver {
  nameservers: string[];
  searches: string[];
  options: string[];
}
