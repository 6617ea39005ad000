import { readBlockIoV1 } from './block-io.ts';
import { readPids, readProcesses } from './processes.ts';
import { readNumber, readSmall, valueOf } from './small-files.ts';
import type { DeviceNames } from './block-io.ts';
import type { CgroupReading, CpuReading, MemoryReading, WithoutParts } from './cgroup-reading.ts';

/** `USER_HZ`: cpuacct.stat counts in ticks of it, 100/s on all machines of today. */
const NS_PER_TICK = 1e7;
/** The kernel rounds "no limit" to pages; cAdvisor takes all above for none. */
const NO_LIMIT_FROM = 2 ** 62;

/** Folders of one cgroup by controller. */
export type V1Folders = Readonly<Record<'cpu' | 'cpuacct' | 'memory' | 'pids' | 'blkio', string | undefined>>;

/** All but the times of a reading. */
export type ReadingParts = Omit<CgroupReading, 'at' | 'createdAt'>;

/** Reads one cgroup of the v1 hierarchies, derived as libcontainer and cAdvisor do. */
export function readV1(folders: V1Folders, devices: DeviceNames, without: WithoutParts): ReadingParts {
  const parts: ReadingParts = {};
  const cpu = readCpu(folders, without);
  if (cpu !== undefined) parts.cpu = cpu;
  const withMemory = without.memory !== true && folders.memory !== undefined;
  const memory = withMemory ? readMemory(folders.memory, without) : undefined;
  if (memory !== undefined) parts.memory = memory;
  const pids = without.processes === true || folders.cpu === undefined ? undefined : readPids(folders.cpu);
  if (pids !== undefined) {
    // cAdvisor drops the pids controller of the root cgroup, which has no pids.current: 0
    const current =
      folders.pids === undefined || without.details === true ? null : readNumber(`${folders.pids}/pids.current`);
    const max = current === null ? null : readNumber(`${folders.pids}/pids.max`);
    parts.processes = readProcesses(pids, { current: current ?? 0, max }, without.files !== true);
  }
  if (without.blockIo !== true && folders.blkio !== undefined) parts.blockIo = readBlockIoV1(folders.blkio, devices);
  return parts;
}

function readCpu(folders: V1Folders, without: WithoutParts): CpuReading | undefined {
  const usageNs = folders.cpuacct === undefined ? null : readNumber(`${folders.cpuacct}/cpuacct.usage`);
  if (usageNs === null || folders.cpu === undefined) return undefined;
  const details = without.details !== true;
  const withoutLimits = without.limits === true || !details;
  const modes = (details ? readSmall(`${folders.cpuacct}/cpuacct.stat`) : undefined) ?? '';
  const throttling = (details ? readSmall(`${folders.cpu}/cpu.stat`) : undefined) ?? '';
  const quota = withoutLimits ? null : readNumber(`${folders.cpu}/cpu.cfs_quota_us`);
  return {
    usageNs,
    userNs: (valueOf(modes, 'user') ?? 0) * NS_PER_TICK,
    systemNs: (valueOf(modes, 'system') ?? 0) * NS_PER_TICK,
    periods: valueOf(throttling, 'nr_periods') ?? 0,
    throttledPeriods: valueOf(throttling, 'nr_throttled') ?? 0,
    throttledNs: valueOf(throttling, 'throttled_time') ?? 0,
    shares: withoutLimits ? 0 : (readNumber(`${folders.cpu}/cpu.shares`) ?? 0),
    quotaUs: quota === null || quota <= 0 ? null : quota,
    periodUs: withoutLimits ? 0 : (readNumber(`${folders.cpu}/cpu.cfs_period_us`) ?? 0),
  };
}

function readMemory(folder: string, without: WithoutParts): MemoryReading | undefined {
  const withoutLimits = without.limits === true;
  const details = without.details !== true;
  const detail = (file: string) => (details ? readNumber(`${folder}/${file}`) : null) ?? 0;
  const usageBytes = readNumber(`${folder}/memory.usage_in_bytes`);
  const stat = readSmall(`${folder}/memory.stat`);
  if (usageBytes === null || stat === undefined) return undefined;
  const value = (name: string) => valueOf(stat, name) ?? 0;
  const inactive = value('total_inactive_file');
  // cAdvisor gives the cgroup's own faults for both scopes
  const [pageFaults, majorPageFaults] = [value('pgfault'), value('pgmajfault')];
  return {
    usageBytes,
    maxUsageBytes: detail('memory.max_usage_in_bytes'),
    cacheBytes: value('total_cache'),
    rssBytes: value('total_rss'),
    swapBytes: value('total_swap'),
    mappedFileBytes: value('total_mapped_file'),
    kernelBytes: detail('memory.kmem.usage_in_bytes'),
    workingSetBytes: Math.max(0, usageBytes - inactive),
    totalActiveFileBytes: value('total_active_file'),
    totalInactiveFileBytes: inactive,
    failures: detail('memory.failcnt'),
    pageFaults,
    majorPageFaults,
    hierarchicalPageFaults: pageFaults,
    hierarchicalMajorPageFaults: majorPageFaults,
    limitBytes: withoutLimits ? null : limit(`${folder}/memory.limit_in_bytes`),
    swapLimitBytes: withoutLimits ? null : limit(`${folder}/memory.memsw.limit_in_bytes`),
    reservationBytes: withoutLimits || !details ? null : limit(`${folder}/memory.soft_limit_in_bytes`),
    oomKills: details ? (valueOf(readSmall(`${folder}/memory.oom_control`) ?? '', 'oom_kill') ?? 0) : 0,
  };
}

function limit(path: string): number | null {
  const bytes = readNumber(path);
  return bytes === null || bytes > NO_LIMIT_FROM ? null : bytes;
}
