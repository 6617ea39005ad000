import type { TopologyHint } from '../topology/hints.ts';
import { masksOf, nodesOf, sizeOf } from '../topology/node-mask.ts';
import type { CpuGround } from './cpu-ground.ts';
import type { CpuSet } from './cpu-set.ts';
import { sortedCpus } from './cpu-set.ts';
import { cpusWithin, idsOf, idsWithin } from './cpu-topology.ts';

/**
 * All sets of NUMA nodes that have so many CPUs, and among them all that can be used again (kubelet's generateCPUTopologyHints).
 * Preferred: those of as few nodes as the machine could do it with if it were empty.
 */
export function cpuHints(
  { topology, options }: CpuGround,
  available: CpuSet,
  reusable: CpuSet,
  request: number,
): TopologyHint[] {
  const { places } = topology;
  const nodes = sortedCpus(idsOf(places, 'node'));
  const all = counted(nodes, (node) => cpusWithin(places, 'node', [node]).size);
  const countOf = (cpus: CpuSet): Map<number, number> =>
    counted(nodes, (node) => [...cpus].filter((cpu) => (places.get(cpu)?.node ?? 0) === node).length);
  const [free, again] = [countOf(available), countOf(reusable)];
  const within = (counts: ReadonlyMap<number, number>, set: readonly number[]): number =>
    set.reduce((sum, node) => sum + (counts.get(node) ?? 0), 0);
  let least = nodes.length;
  const fitting: number[] = [];
  for (const mask of masksOf(nodes)) {
    const set = nodesOf(mask);
    if (within(all, set) >= request) least = Math.min(least, set.length);
    if (within(again, set) === reusable.size && within(again, set) + within(free, set) >= request) fitting.push(mask);
  }
  const aligned = (set: readonly number[]): boolean => {
    const perSocket = Math.floor(topology.nodes / topology.sockets);
    if (perSocket === 0) return false;
    return idsWithin(places, 'socket', 'node', set).size === Math.floor((least + perSocket - 1) / perSocket);
  };
  return fitting.map((mask) => ({
    nodes: mask,
    preferred: (options.bySocket && aligned(nodesOf(mask))) || sizeOf(mask) === least,
  }));
}

function counted(nodes: readonly number[], count: (node: number) => number): Map<number, number> {
  return new Map(nodes.map((node) => [node, count(node)]));
}
