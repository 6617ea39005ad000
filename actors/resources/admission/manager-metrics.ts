import type { Counts } from '../../../machines/admission/resource-manager.ts';
import type { ResourceState } from '../../../machines/resource-managers/admit-resources.ts';
import { parseCpuSetList, without } from '../../../machines/resource-managers/cpu/cpu-set.ts';
import type { CpuGround } from '../../../machines/resource-managers/cpu/cpu-ground.ts';
import type { ResourceRules } from '../../../machines/resource-managers/resource-ground.ts';
import { uidEntries } from '../../../machines/supervisor/uid-table.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';

/** The metrics of CPU, memory and topology manager. */
export type ManagerMetrics = Pick<
  Metrics,
  | 'cpuManagerExclusive'
  | 'cpuManagerShared'
  | 'cpuManagerPerNode'
  | 'cpuManagerRequests'
  | 'cpuManagerErrors'
  | 'memoryManagerRequests'
  | 'memoryManagerErrors'
  | 'topologyRequests'
  | 'topologyErrors'
  | 'topologyDuration'
  | 'alignedResources'
  | 'unalignedResources'
>;

const ALIGNED: Readonly<Record<string, { scope: string; boundary: string }>> = {
  Cores: { scope: 'container', boundary: 'physical_cpu' },
  Uncore: { scope: 'container', boundary: 'uncore_cache' },
  NodesOfContainer: { scope: 'container', boundary: 'numa_node' },
  NodesOfPod: { scope: 'pod', boundary: 'numa_node' },
};

/** Counts how one pod was given its part, or not.*/
export function countAdmission(metrics: ManagerMetrics, counts: Counts): void {
  const of = (name: string): number => counts[name] ?? 0;
  metrics.cpuManagerRequests.inc({}, of('cpuPinningRequests'));
  metrics.cpuManagerErrors.inc({}, of('cpuPinningErrors'));
  metrics.memoryManagerRequests.inc({}, of('memoryPinningRequests'));
  metrics.memoryManagerErrors.inc({}, of('memoryPinningErrors'));
  metrics.topologyErrors.inc({}, of('topologyErrors'));
  for (const [name, labels] of Object.entries(ALIGNED)) {
    if (of(`aligned${name}`) > 0) metrics.alignedResources.inc(labels, of(`aligned${name}`));
    if (of(`unaligned${name}`) > 0) metrics.unalignedResources.inc(labels, of(`unaligned${name}`));
  }
}

/** A pod was asked about, which took so long: kubelet's topology manager is asked about each, whatever its policy. */
export function countAsked(metrics: ManagerMetrics, ms: number): void {
  metrics.topologyRequests.inc();
  metrics.topologyDuration.observe(ms);
}

/** What can be aligned here stands in the metrics from the start, at 0. */
export function startCounts(metrics: ManagerMetrics, { cpu, topology }: ResourceRules): void {
  const zero = (name: string, failure: boolean): void => {
    const labels = ALIGNED[name];
    if (labels === undefined) return;
    metrics.alignedResources.inc(labels, 0);
    if (failure) metrics.unalignedResources.inc(labels, 0);
  };
  if (cpu.policy === 'static') {
    zero('Cores', true);
    zero('Uncore', false);
  }
  if (topology.policy !== 'none') for (const name of ['NodesOfContainer', 'NodesOfPod']) zero(name, true);
}

/** How many CPUs are whose. */
export function countCpus(metrics: ManagerMetrics, { cpu }: ResourceState, ground: CpuGround): void {
  if (cpu === null) return;
  const alone = uidEntries(cpu.pods).flatMap(([, grants]) => grants.flatMap(({ cpus }) => [...parseCpuSetList(cpus)]));
  const own = new Set(alone);
  metrics.cpuManagerExclusive.set(own.size);
  metrics.cpuManagerShared.set(without(parseCpuSetList(cpu.shared), ground.reserved).size * 1000);
  const nodes = new Map<number, number>();
  for (const [id, { node }] of ground.topology.places) nodes.set(node, (nodes.get(node) ?? 0) + (own.has(id) ? 1 : 0));
  for (const [node, count] of nodes) metrics.cpuManagerPerNode.set({ numa_node: String(node) }, count);
}
