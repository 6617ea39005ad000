/** What a container has of the node alone. */
export interface ContainerGrant {
  name: string;
  /** CPUs as the kernel lists them; absent: it shares those of all others. */
  cpus?: string;
  /** NUMA nodes of its memory; absent: any. */
  mems?: string;
}

/** Which of the node's CPUs and memory a pod's containers run on. */
export interface PodGrants {
  /** CPUs of containers that have none alone; '' where CPUs are not given away at all. */
  shared: string;
  /** Containers with CPUs of their own have no CPU quota (gate DisableCPUQuotaWithExclusiveCPUs). */
  quotaOff: boolean;
  containers: readonly ContainerGrant[];
  /** Pause after an update of a running container's CPUs that failed, ms (`cpuManagerReconcilePeriod`). */
  retryMs: number;
}
