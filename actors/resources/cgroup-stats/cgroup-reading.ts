/**
 * What the kernel tells of one cgroup at one moment, in the sense of cAdvisor's ContainerStats (v1 and v2 alike).
 * A part is absent when the kernel or the hierarchy does not tell it. Counters grow; bytes and nanoseconds are numbers.
 */
export interface CgroupReading {
  /** When it was read, ms since the epoch. */
  at: number;
  /** When the cgroup was made, ms since the epoch. */
  createdAt: number;
  cpu?: CpuReading;
  memory?: MemoryReading;
  processes?: ProcessReading;
  blockIo?: BlockIoReading[];
  /** Pressure stall information (KEP-4205), cgroup v2 only. */
  pressure?: { cpu: Pressure; memory: Pressure; io: Pressure };
}

/** CPU time, ns. */
export interface CpuReading {
  usageNs: number;
  userNs: number;
  systemNs: number;
  /** Periods of the CFS quota, and of them those in which the cgroup was held back. */
  periods: number;
  throttledPeriods: number;
  throttledNs: number;
  /** Relative weight as v1 counts it (`container_spec_cpu_shares`). */
  shares: number;
  /** µs of CPU for each period; null = no limit. */
  quotaUs: number | null;
  periodUs: number;
}

/** Memory, bytes but for the counters of faults. */
export interface MemoryReading {
  usageBytes: number;
  /** Highest `usageBytes` since the cgroup was made; 0 when not told. */
  maxUsageBytes: number;
  cacheBytes: number;
  rssBytes: number;
  swapBytes: number;
  mappedFileBytes: number;
  kernelBytes: number;
  /** `usageBytes` without inactive file pages, never below 0. */
  workingSetBytes: number;
  totalActiveFileBytes: number;
  totalInactiveFileBytes: number;
  /** How often the limit was hit. */
  failures: number;
  /** Of the cgroup alone, and of it with all below. */
  pageFaults: number;
  majorPageFaults: number;
  hierarchicalPageFaults: number;
  hierarchicalMajorPageFaults: number;
  /** Null = no limit. */
  limitBytes: number | null;
  swapLimitBytes: number | null;
  reservationBytes: number | null;
  oomKills: number;
}

/** Processes of the cgroup itself. */
export interface ProcessReading {
  processes: number;
  threads: number;
  /** Null = no limit. */
  threadsMax: number | null;
  fileDescriptors: number;
  sockets: number;
}

/** One device. */
export interface BlockIoReading {
  /** `/dev/sda`, or '' when the device has no name here. */
  device: string;
  major: number;
  minor: number;
  readBytes: number;
  writeBytes: number;
  reads: number;
  writes: number;
  /** Bytes by the kernel's own words (`Read`, `Write`, v1 also `Sync`, `Async`, `Discard`, `Total`). */
  bytesByOperation: Readonly<Record<string, number>>;
}

/** PSI: averages in percent, `totalUs` in µs. */
export interface Pressure {
  some: PressureLine;
  full: PressureLine;
}

/** One line of a PSI file. */
export interface PressureLine {
  avg10: number;
  avg60: number;
  avg300: number;
  totalUs: number;
}

/** Counters of one network interface (`/proc/PID/net/dev`). */
export interface InterfaceReading {
  name: string;
  rxBytes: number;
  rxPackets: number;
  rxErrors: number;
  rxDropped: number;
  txBytes: number;
  txPackets: number;
  txErrors: number;
  txDropped: number;
}

/** A mounted file system (`statfs`). */
export interface FilesystemReading {
  /** `/dev/sda1`, or the name of a file system without a device. */
  device: string;
  capacityBytes: number;
  /** Free for everyone but root. */
  availableBytes: number;
  usedBytes: number;
  inodes: number;
  inodesFree: number;
}

/** Parts that a caller has no use for: each saves reads of files. */
export interface WithoutParts {
  /** `fileDescriptors` and `sockets` come as 0: they cost a readlink for each open file of each process. */
  files?: boolean;
  blockIo?: boolean;
  /** `shares`, `quotaUs`, `periodUs`, and of memory all limits come as 0 or null. */
  limits?: boolean;
  /**
   * What summaries do not tell comes as 0 or null: cpu by mode, throttling, limits of cpu and of threads; peak, kernel part,
   * failures, soft limit and OOM kills of memory.
   */
  details?: boolean;
  /** No `processes`. */
  processes?: boolean;
  pressure?: boolean;
  /** No `memory`. */
  memory?: boolean;
  /** `createdAt` comes as 0. */
  createdAt?: boolean;
}

/** Reads cgroups; paths as cAdvisor names them (`/`, `/kubepods/burstable/pod...`). */
export interface CgroupReader {
  /** Null when there is no such cgroup (any more). */
  read(cgroup: string, without?: WithoutParts): CgroupReading | null;
  /** All cgroups below and at `from`, in the hierarchy of cpu (v1) or the unified one. */
  tree(from: string): string[];
  /** First process of the cgroup; null when it has none. */
  firstPid(cgroup: string): number | null;
}
