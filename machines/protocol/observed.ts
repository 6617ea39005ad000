/** A container as the runtime last reported it. Times are milliseconds since the epoch; 0 = not yet. */
export interface ObservedContainer {
  id: string;
  name: string;
  sandboxId: string;
  state: 'created' | 'running' | 'exited' | 'unknown';
  createdAt: number;
  startedAt: number;
  finishedAt: number;
  exitCode: number;
  /** The runtime's reason: `Completed`, `Error`, `OOMKilled`, `ContainerStatusUnknown` ... */
  reason: string;
  /** The runtime's message, or the termination message once it has been read. */
  message: string;
  /** Image as the container was created with (`ContainerStatus.image.image`). */
  image: string;
  /** `ContainerStatus.imageRef`: the repo digest or image id; becomes `containerStatuses[].imageID`. */
  imageRef: string;
  imageId: string;
  logPath: string;
  /** `io.kubernetes.container.hash` annotation: the container's spec hash (hex of FNV-32a). */
  hash: string;
  /** `io.kubernetes.container.restartCount` annotation. */
  restartCount: number;
  /** Host side of the termination log's mount, where the runtime tells it. */
  terminationLogHostPath?: string;
  /** All annotations that the agent (or a kubelet before it) wrote on the container. */
  annotations: Record<string, string>;
  labels: Record<string, string>;
  resources?: { cpuShares?: string; cpuQuota?: string; cpuPeriod?: string; memoryLimitInBytes?: string };
  /** Linux user of the first process, where the runtime reports it. */
  user?: { uid: number; gid: number; supplementalGroups: number[] };
  /** `SIGTERM`, `SIGRTMIN+3` ...: what the runtime stops it by, where that is to be told. */
  stopSignal?: string;
  /** It was started by an own call, and not looked at since; in the pod machine's view only. */
  unseen?: true;
}

/** A pod sandbox as the runtime last reported it. */
export interface ObservedSandbox {
  id: string;
  attempt: number;
  state: 'ready' | 'notReady';
  createdAt: number;
  /** All pod IPs, primary first; empty for host network or before CNI ran. */
  ips: string[];
  /** It is ready and should have an address, and the runtime says that it has none. */
  unaddressed?: true;
  /** `NamespaceOption.network`: true when the sandbox uses the node's network. */
  hostNetwork: boolean;
  runtimeHandler: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

/**
 * All that the runtime holds of one pod, taken in one observation (kubecontainer.PodStatus).
 * `at` is the time when the observation *began*: what an own call did after `at` is newer than it.
 */
export interface ObservedPod {
  uid: string;
  name: string;
  namespace: string;
  at: number;
  /** Newest first. */
  sandboxes: ObservedSandbox[];
  /** Newest first. */
  containers: ObservedContainer[];
}
