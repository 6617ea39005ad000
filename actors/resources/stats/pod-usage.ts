import type { PodSandbox } from '../../../cri/generated/runtime/v1/api.ts';
import type { ContainerStats, PodStats } from './summary.ts';

/** A pod's own figures. */
export type PodUsage = Pick<PodStats, 'cpu' | 'memory' | 'swap' | 'io'>;

/** A pod without its containers; its start is that of its sandbox. */
export function podStatsOf({ metadata, createdAt }: PodSandbox): PodStats {
  const { name = '', namespace = '', uid = '' } = metadata ?? {};
  return { podRef: { name, namespace, uid }, startTime: Number(createdAt), containers: [] };
}

/**
 * Adds a container to its pod. The pod's cpu, memory, swap and io are those of its cgroup, or without one (`cgroupsPerQOS`
 * off) the sums of its containers.
 */
export function addContainer(pod: PodStats, container: ContainerStats, own: PodUsage | undefined): void {
  pod.containers.push(container);
  if (own !== undefined) {
    pod.cpu = own.cpu;
    pod.memory = own.memory;
    pod.swap = own.swap;
    pod.io = own.io;
    return;
  }
  const { cpu, memory, swap, io } = container;
  if (cpu !== undefined) {
    pod.cpu = {
      time: cpu.time,
      usageNanoCores: sum(pod.cpu?.usageNanoCores, cpu.usageNanoCores),
      usageCoreNanoSeconds: sum(pod.cpu?.usageCoreNanoSeconds, cpu.usageCoreNanoSeconds),
    };
  }
  if (memory !== undefined) {
    pod.memory = {
      time: memory.time,
      availableBytes: sum(pod.memory?.availableBytes, memory.availableBytes),
      usageBytes: sum(pod.memory?.usageBytes, memory.usageBytes),
      workingSetBytes: sum(pod.memory?.workingSetBytes, memory.workingSetBytes),
      rssBytes: sum(pod.memory?.rssBytes, memory.rssBytes),
      pageFaults: sum(pod.memory?.pageFaults, memory.pageFaults),
      majorPageFaults: sum(pod.memory?.majorPageFaults, memory.majorPageFaults),
    };
  }
  if (swap !== undefined) {
    pod.swap = {
      time: pod.swap?.time ?? swap.time,
      swapAvailableBytes: sum(pod.swap?.swapAvailableBytes, swap.swapAvailableBytes),
      swapUsageBytes: sum(pod.swap?.swapUsageBytes, swap.swapUsageBytes),
    };
  }
  if (io !== undefined) pod.io ??= { time: io.time };
}

function sum(a: number | undefined, b: number | undefined): number {
  return (a ?? 0) + (b ?? 0);
}
