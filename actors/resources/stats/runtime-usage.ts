import type {
  ContainerStats as CriContainerStats,
  PsiStats as CriPsiStats,
  UInt64Value,
} from '../../../cri/generated/runtime/v1/api.ts';
import type { ContainerStats, PsiData, PsiStats } from './summary.ts';

/** Number of a CRI value; undefined when the runtime does not tell it. */
export function valueOf(value: UInt64Value | undefined): number | undefined {
  return value === undefined ? undefined : Number(value.value);
}

/**
 * What the runtime tells of a container, for `/stats/summary`. What it leaves out altogether is 0, as of `now` (ns).
 * @param psi feature gate KubeletPSI
 */
export function runtimeUsage(stats: CriContainerStats, startTime: number, now: number, psi: boolean): ContainerStats {
  const { cpu, memory, io, writableLayer } = stats;
  return {
    name: stats.attributes?.metadata?.name ?? '',
    startTime,
    cpu: cpu
      ? {
          time: Number(cpu.timestamp),
          usageNanoCores: valueOf(cpu.usageNanoCores),
          usageCoreNanoSeconds: valueOf(cpu.usageCoreNanoSeconds),
          psi: psiOf(cpu.psi, psi),
        }
      : { time: now, usageNanoCores: 0, usageCoreNanoSeconds: 0 },
    memory: memory
      ? {
          time: Number(memory.timestamp),
          usageBytes: valueOf(memory.usageBytes),
          workingSetBytes: valueOf(memory.workingSetBytes),
          rssBytes: valueOf(memory.rssBytes),
          psi: psiOf(memory.psi, psi),
        }
      : { time: now, usageBytes: 0, workingSetBytes: 0, rssBytes: 0 },
    io: psi ? { time: io ? Number(io.timestamp) : now, psi: psiOf(io?.psi, psi) } : undefined,
    rootfs: writableLayer
      ? {
          time: Number(writableLayer.timestamp),
          usedBytes: valueOf(writableLayer.usedBytes),
          inodesUsed: valueOf(writableLayer.inodesUsed),
        }
      : { time: null },
    swap: swapOf(stats, now, valueOf),
  };
}

/** The same for the short form (`only_cpu_and_memory`, `/metrics/resource`), where a missing value is 0, too. */
export function runtimeCpuAndMemory(
  stats: CriContainerStats,
  startTime: number,
  now: number,
  psi: boolean,
): ContainerStats {
  const { cpu, memory } = stats;
  const orZero = (value: UInt64Value | undefined) => valueOf(value) ?? 0;
  return {
    name: stats.attributes?.metadata?.name ?? '',
    startTime,
    cpu: {
      time: cpu ? Number(cpu.timestamp) : now,
      usageNanoCores: cpu ? valueOf(cpu.usageNanoCores) : 0,
      usageCoreNanoSeconds: orZero(cpu?.usageCoreNanoSeconds),
      psi: psiOf(cpu?.psi, psi),
    },
    memory: {
      time: memory ? Number(memory.timestamp) : now,
      availableBytes: orZero(memory?.availableBytes),
      usageBytes: orZero(memory?.usageBytes),
      workingSetBytes: orZero(memory?.workingSetBytes),
      rssBytes: orZero(memory?.rssBytes),
      pageFaults: orZero(memory?.pageFaults),
      majorPageFaults: orZero(memory?.majorPageFaults),
      psi: psiOf(memory?.psi, psi),
    },
    swap: swapOf(stats, now, orZero),
  };
}

function swapOf(
  { swap }: CriContainerStats,
  now: number,
  value: (from: UInt64Value | undefined) => number | undefined,
): ContainerStats['swap'] {
  if (!swap) return { time: now, swapAvailableBytes: 0, swapUsageBytes: 0 };
  return {
    time: Number(swap.timestamp),
    swapAvailableBytes: value(swap.swapAvailableBytes),
    swapUsageBytes: value(swap.swapUsageBytes),
  };
}

/** Pressure as the runtime tells it. @param enabled feature gate KubeletPSI */
export function psiOf(stats: CriPsiStats | undefined, enabled: boolean): PsiStats | undefined {
  if (!enabled || stats === undefined) return undefined;
  return { full: psiData(stats.Full), some: psiData(stats.Some) };
}

function psiData(from: CriPsiStats['Full']): PsiData {
  return {
    total: Number(from?.Total ?? 0),
    avg10: from?.Avg10 ?? 0,
    avg60: from?.Avg60 ?? 0,
    avg300: from?.Avg300 ?? 0,
  };
}
