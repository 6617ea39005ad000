import type { CriClient } from '../../../cri/client/cri-client.ts';
import { isCriError } from '../../../cri/client/cri-error.ts';
import type {
  ContainerStats as CriContainerStats,
  LinuxPodSandboxStats,
  NetworkInterfaceUsage,
  PodSandboxStats,
} from '../../../cri/generated/runtime/v1/api.ts';
import type { CpuRates } from './cpu-rates.ts';
import type { MeasuredPod, RunningThings } from './runtime-listing.ts';
import { psiOf, valueOf } from './runtime-usage.ts';
import type { InterfaceStats, PodStats } from './summary.ts';

/** What the runtime tells of a pod as a whole. */
export type ToldUsage = Pick<PodStats, 'cpu' | 'memory' | 'io' | 'network' | 'process_stats'>;

/**
 * The usage of all pods with their containers, in one call (feature gate PodAndContainerStatsFromCRI).
 * @returns null from a runtime that does not have the call: kubelet takes cgroups then, too
 * @throws CriError as the runtime's own words
 */
export async function listPodUsage(cri: Pick<CriClient, 'runtime'>): Promise<PodSandboxStats[] | null> {
  try {
    return (await cri.runtime.listPodSandboxStats({ filter: {} })).stats;
  } catch (error) {
    if (isCriError(error, 'Unimplemented')) return null;
    throw error;
  }
}

/** Joins them, as kubelet's listPodStatsStrictlyFromCRI; of what ended meanwhile and of sandboxes that do not count nothing is told. */
export function toldPods(running: RunningThings, stats: readonly PodSandboxStats[], rates: CpuRates): MeasuredPod[] {
  return stats.flatMap(({ attributes, linux }) => {
    const sandbox = running.sandboxes.get(attributes?.id ?? '');
    if (sandbox === undefined) return [];
    const containers = (linux?.containers ?? []).flatMap((each) => {
      const container = running.containers.get(each.attributes?.id ?? '');
      return container === undefined ? [] : [{ container, stats: withRate(each, rates) }];
    });
    return [{ sandbox, containers, told: linux ?? { containers: [] } }];
  });
}

/** A runtime that has counters only: the rate is that since they were told before, as in kubelet. */
function withRate(stats: CriContainerStats, rates: CpuRates): CriContainerStats {
  const { cpu, attributes } = stats;
  const usageNs = valueOf(cpu?.usageCoreNanoSeconds);
  if (cpu === undefined || cpu.usageNanoCores !== undefined || usageNs === undefined) return stats;
  const rate = rates.take(attributes?.id ?? '', { at: Number(cpu.timestamp) / 1e6, cpu: { usageNs } });
  return rate === undefined ? stats : { ...stats, cpu: { ...cpu, usageNanoCores: { value: String(rate) } } };
}

/** A pod's own figures in the terms of the summary; what the runtime leaves out stays out. @param psi feature gate KubeletPSI */
export function toldUsage({ cpu, memory, io, network, process }: LinuxPodSandboxStats, psi: boolean): ToldUsage {
  return {
    cpu: cpu && {
      time: Number(cpu.timestamp),
      usageNanoCores: valueOf(cpu.usageNanoCores),
      usageCoreNanoSeconds: valueOf(cpu.usageCoreNanoSeconds),
      psi: psiOf(cpu.psi, psi),
    },
    memory: memory && {
      time: Number(memory.timestamp),
      availableBytes: valueOf(memory.availableBytes),
      usageBytes: valueOf(memory.usageBytes),
      workingSetBytes: valueOf(memory.workingSetBytes),
      rssBytes: valueOf(memory.rssBytes),
      pageFaults: valueOf(memory.pageFaults),
      majorPageFaults: valueOf(memory.majorPageFaults),
      psi: psiOf(memory.psi, psi),
    },
    io: psi && io ? { time: Number(io.timestamp), psi: psiOf(io.psi, psi) } : undefined,
    network: network && {
      time: Number(network.timestamp),
      ...interfaceOf(network.defaultInterface),
      interfaces: network.interfaces.map(interfaceOf),
    },
    process_stats: process && { process_count: valueOf(process.processCount) ?? 0 },
  };
}

function interfaceOf(told: NetworkInterfaceUsage | undefined): InterfaceStats {
  return {
    name: told?.name ?? '',
    rxBytes: valueOf(told?.rxBytes),
    rxErrors: valueOf(told?.rxErrors),
    txBytes: valueOf(told?.txBytes),
    txErrors: valueOf(told?.txErrors),
  };
}
