import { readBlockIoV2 } from './block-io.ts';
import { readPids, readProcesses } from './processes.ts';
import { readNumber, readSmall, valueOf } from './small-files.ts';
import type { DeviceNames } from './block-io.ts';
import type { CpuReading, MemoryReading, Pressure, PressureLine, WithoutParts } from './cgroup-reading.ts';
import type { ReadingParts } from './read-v1.ts';

/** Reads one cgroup of the unified hierarchy, derived as libcontainer and cAdvisor do. */
export function readV2(folder: string, devices: DeviceNames, without: WithoutParts): ReadingParts {
  const parts: ReadingParts = {};
  const cpu = readCpu(folder, without.limits === true || without.details === true);
  if (cpu !== undefined) parts.cpu = cpu;
  const memory = without.memory === true ? undefined : readMemory(folder, without);
  if (memory !== undefined) parts.memory = memory;
  const pids = without.processes === true ? undefined : readPids(folder);
  if (pids !== undefined) {
    const current = without.details === true ? null : readNumber(`${folder}/pids.current`);
    const max = current === null ? null : readNumber(`${folder}/pids.max`);
    // without the controller libcontainer counts the processes
    parts.processes = readProcesses(pids, { current: current ?? pids.length, max }, without.files !== true);
  }
  if (without.blockIo !== true) parts.blockIo = readBlockIoV2(folder, devices);
  if (without.pressure !== true) {
    const [cpuText, memoryText, ioText] = ['cpu', 'memory', 'io'].map((name) =>
      readSmall(`${folder}/${name}.pressure`),
    );
    if (cpuText !== undefined && memoryText !== undefined && ioText !== undefined) {
      parts.pressure = { cpu: pressure(cpuText), memory: pressure(memoryText), io: pressure(ioText) };
    }
  }
  return parts;
}

/** v1's shares for a weight of 1..10000, as cAdvisor converts them back; 0 for what is none. */
export function sharesOfWeight(weight: number): number {
  return weight < 1 || weight > 10_000 ? 0 : 2 + Math.trunc(((weight - 1) * 262_142) / 9999);
}

function readCpu(folder: string, withoutLimits: boolean): CpuReading | undefined {
  const stat = readSmall(`${folder}/cpu.stat`);
  if (stat === undefined) return undefined;
  const ns = (name: string) => (valueOf(stat, name) ?? 0) * 1000;
  const [quota, period] = withoutLimits ? [] : (readSmall(`${folder}/cpu.max`) ?? '').trim().split(' ');
  return {
    usageNs: ns('usage_usec'),
    userNs: ns('user_usec'),
    systemNs: ns('system_usec'),
    periods: valueOf(stat, 'nr_periods') ?? 0,
    throttledPeriods: valueOf(stat, 'nr_throttled') ?? 0,
    throttledNs: ns('throttled_usec'),
    shares: withoutLimits ? 0 : sharesOfWeight(readNumber(`${folder}/cpu.weight`) ?? 0),
    quotaUs: quota === undefined || quota === '' || quota === 'max' ? null : Number(quota),
    periodUs: Number(period ?? 0),
  };
}

function readMemory(folder: string, without: WithoutParts): MemoryReading | undefined {
  const withoutLimits = without.limits === true;
  const details = without.details !== true;
  const stat = readSmall(`${folder}/memory.stat`);
  if (stat === undefined) return undefined;
  const value = (name: string) => valueOf(stat, name) ?? 0;
  const current = readNumber(`${folder}/memory.current`);
  // the root cgroup has neither memory.current nor memory.swap.current
  const usageBytes = current ?? value('anon') + value('file');
  const swapBytes = current === null ? usedSwap() : (readNumber(`${folder}/memory.swap.current`) ?? 0);
  const inactive = value('inactive_file');
  const events = (details ? readSmall(`${folder}/memory.events`) : undefined) ?? '';
  const [pageFaults, majorPageFaults] = [value('pgfault'), value('pgmajfault')];
  return {
    usageBytes,
    maxUsageBytes: (details ? readNumber(`${folder}/memory.peak`) : null) ?? 0,
    cacheBytes: value('file'),
    rssBytes: value('anon'),
    swapBytes,
    mappedFileBytes: value('file_mapped'),
    kernelBytes: value('kernel'),
    workingSetBytes: Math.max(0, usageBytes - inactive),
    totalActiveFileBytes: value('active_file'),
    totalInactiveFileBytes: inactive,
    // v2 counts none, and cadvisor tells 0.
    failures: 0,
    pageFaults,
    majorPageFaults,
    hierarchicalPageFaults: pageFaults,
    hierarchicalMajorPageFaults: majorPageFaults,
    limitBytes: withoutLimits ? null : readNumber(`${folder}/memory.max`),
    swapLimitBytes: withoutLimits ? null : readNumber(`${folder}/memory.swap.max`),
    reservationBytes: withoutLimits || !details ? null : readNumber(`${folder}/memory.min`),
    oomKills: valueOf(events, 'oom_kill') ?? 0,
  };
}

function usedSwap(): number {
  const text = readSmall('/proc/meminfo') ?? '';
  // eslint-disable-next-line no-restricted-syntax -- names of fields, and the text is the kernel's
  const kib = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
  return (kib('SwapTotal') - kib('SwapFree')) * 1024;
}

/** Lines `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`; older kernels have no `full` for CPU: all 0. */
function pressure(text: string): Pressure {
  const line = (kind: string): PressureLine => {
    // eslint-disable-next-line no-restricted-syntax -- names of fields, and the text is the kernel's
    const found = new RegExp(`^${kind} avg10=(\\S+) avg60=(\\S+) avg300=(\\S+) total=(\\d+)`, 'm').exec(text);
    const [avg10 = 0, avg60 = 0, avg300 = 0, totalUs = 0] = (found ?? []).slice(1).map(Number);
    return { avg10, avg60, avg300, totalUs };
  };
  return { some: line('some'), full: line('full') };
}
