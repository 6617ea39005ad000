/**
 * Shapes of the summary API (k8s.io/kubelet/pkg/apis/stats/v1alpha1), properties in the order in which Go prints them.
 * What a reference leaves out is `undefined`. Times are {@link Nanoseconds}; {@link summaryJson} writes them as RFC 3339.
 */

/** ns since the epoch as a number: near 256 ns exact, as Go's float64 of it. Null is Go's zero time, written `null`. */
export type Nanoseconds = number | null;

/** Body of `/stats/summary`. */
export interface Summary {
  node: NodeStats;
  pods: PodStats[];
}

/** The node as a whole. */
export interface NodeStats {
  nodeName: string;
  systemContainers?: ContainerStats[];
  startTime: Nanoseconds;
  cpu?: CpuStats;
  memory?: MemoryStats;
  io?: IoStats;
  network?: NetworkStats;
  fs?: FsStats;
  runtime?: { imageFs: FsStats; containerFs: FsStats };
  rlimit?: RlimitStats;
  swap?: SwapStats;
}

/** Tasks of the system. */
export interface RlimitStats {
  time: Nanoseconds;
  maxpid?: number;
  curproc?: number;
}

/** One pod. */
export interface PodStats {
  podRef: { name: string; namespace: string; uid: string };
  startTime: Nanoseconds;
  containers: ContainerStats[];
  cpu?: CpuStats;
  memory?: MemoryStats;
  io?: IoStats;
  network?: NetworkStats;
  volume?: VolumeStats[];
  'ephemeral-storage'?: FsStats;
  process_stats?: { process_count: number };
  swap?: SwapStats;
}

/** One container, or a group of the system's processes. */
export interface ContainerStats {
  name: string;
  startTime: Nanoseconds;
  cpu?: CpuStats;
  memory?: MemoryStats;
  io?: IoStats;
  rootfs?: FsStats;
  logs?: FsStats;
  swap?: SwapStats;
}

/** `usageNanoCores`: ns of cpu for each second. */
export interface CpuStats {
  time: Nanoseconds;
  usageNanoCores?: number;
  usageCoreNanoSeconds?: number;
  psi?: PsiStats;
}

/** `availableBytes` is the limit without the working set; absent without a limit. */
export interface MemoryStats {
  time: Nanoseconds;
  availableBytes?: number;
  usageBytes?: number;
  workingSetBytes?: number;
  rssBytes?: number;
  pageFaults?: number;
  majorPageFaults?: number;
  psi?: PsiStats;
}

/** See {@link MemoryStats}. */
export interface SwapStats {
  time: Nanoseconds;
  swapAvailableBytes?: number;
  swapUsageBytes?: number;
}

/** Pressure of I/O. */
export interface IoStats {
  time: Nanoseconds;
  psi?: PsiStats;
}

/** Pressure stall information. */
export interface PsiStats {
  full: PsiData;
  some: PsiData;
}

/** `total` as the kernel counts it (µs), whatever the API's comment says: cAdvisor hands it through. */
export interface PsiData {
  total: number;
  avg10: number;
  avg60: number;
  avg300: number;
}

/** The interface `eth0` (name '' when there is none), and all of them. */
export interface NetworkStats extends InterfaceStats {
  time: Nanoseconds;
  interfaces?: InterfaceStats[];
}

/** Counters of one interface. */
export interface InterfaceStats {
  name: string;
  rxBytes?: number;
  rxErrors?: number;
  txBytes?: number;
  txErrors?: number;
}

/** A file system, or what a part of it takes (`usedBytes`, `inodesUsed`). */
export interface FsStats {
  time: Nanoseconds;
  availableBytes?: number;
  capacityBytes?: number;
  usedBytes?: number;
  inodesFree?: number;
  inodes?: number;
  inodesUsed?: number;
}

/** A volume of a pod. */
export interface VolumeStats extends FsStats {
  name: string;
  pvcRef?: PvcReference;
  /** What its driver says of its health (gate CSIVolumeHealth). */
  volumeHealthStats?: { abnormal: boolean };
}

/** The claim behind a volume. */
export interface PvcReference {
  name: string;
  namespace: string;
}

/** The summary as kubelet prints it: indented by one space, times in whole seconds of UTC. */
export function summaryJson(summary: Summary): string {
  // Nearly all times of a summary are of a few seconds
  const known = new Map<number, string>();
  const rfc3339 = (key: string, value: unknown): unknown => {
    if (typeof value !== 'number' || (key !== 'time' && key !== 'startTime')) return value;
    const seconds = Math.floor(value / 1e9);
    let text = known.get(seconds);
    if (text === undefined) known.set(seconds, (text = `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`));
    return text;
  };
  return JSON.stringify(summary, rfc3339, 1);
}
