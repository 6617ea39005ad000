import type { CgroupReading, InterfaceReading, Pressure } from '../cgroup-stats/cgroup-reading.ts';
import type { CpuStats, IoStats, MemoryStats, NetworkStats, PsiStats, SwapStats } from './summary.ts';

/** cAdvisor's word for the main interface of a pod, and of a node. */
const DEFAULT_INTERFACE = 'eth0';
const NO_PRESSURE = { total: 0, avg10: 0, avg60: 0, avg300: 0 };

/** The parts of a summary that one cgroup gives. */
export interface CgroupUsage {
  cpu: CpuStats;
  memory: MemoryStats;
  swap?: SwapStats;
  io?: IoStats;
}

/**
 * What a reading says in the terms of the summary API (kubelet's cadvisorInfoToContainerStats).
 * @param rate ns of cpu for each second; 0 is told when it is not known
 * @param psi feature gate KubeletPSI: without PSI in the kernel the values are 0
 */
export function cgroupUsage(reading: CgroupReading, rate: number | undefined, psi: boolean): CgroupUsage {
  const time = reading.at * 1e6;
  const { pressure } = reading;
  const usage: CgroupUsage = {
    cpu: { time, usageNanoCores: rate ?? 0, usageCoreNanoSeconds: reading.cpu?.usageNs ?? 0 },
    memory: { time, workingSetBytes: 0 },
  };
  if (psi && reading.cpu !== undefined) usage.cpu.psi = psiStats(pressure?.cpu);
  const { memory } = reading;
  if (memory !== undefined) {
    const { limitBytes, swapLimitBytes, workingSetBytes } = memory;
    usage.memory = {
      time,
      ...(limitBytes !== null && { availableBytes: Math.max(0, limitBytes - workingSetBytes) }),
      usageBytes: memory.usageBytes,
      workingSetBytes,
      rssBytes: memory.rssBytes,
      pageFaults: memory.pageFaults,
      majorPageFaults: memory.majorPageFaults,
      ...(psi && { psi: psiStats(pressure?.memory) }),
    };
    usage.swap = {
      time,
      ...(swapLimitBytes !== null && { swapAvailableBytes: Math.max(0, swapLimitBytes - memory.swapBytes) }),
      swapUsageBytes: memory.swapBytes,
    };
  }
  if (psi) usage.io = { time, psi: psiStats(pressure?.io) };
  return usage;
}

/** Network of a network namespace; undefined when it has no interface that counts. */
export function networkStats(interfaces: readonly InterfaceReading[], at: number): NetworkStats | undefined {
  if (interfaces.length === 0) return undefined;
  const all = interfaces.map(({ name, rxBytes, rxErrors, txBytes, txErrors }) => ({
    ...{ name, rxBytes, rxErrors, txBytes, txErrors },
  }));
  const main = all.find(({ name }) => name === DEFAULT_INTERFACE) ?? { name: '' };
  return { time: at * 1e6, ...main, interfaces: all };
}

function psiStats(pressure: Pressure | undefined): PsiStats {
  const line = (from: Pressure['some'] | undefined) =>
    from === undefined
      ? { ...NO_PRESSURE }
      : { total: from.totalUs, avg10: from.avg10, avg60: from.avg60, avg300: from.avg300 };
  return { full: line(pressure?.full), some: line(pressure?.some) };
}
