import type { MachineTopology } from '../machine/machine-topology.ts';
import type { CpuSet } from './cpu-set.ts';

/** Where a logical CPU sits. `core`: the lowest CPU of its core, which no other core of the machine has. */
export interface CpuPlace {
  node: number;
  socket: number;
  core: number;
  uncore: number;
}

/** A level of the machine by which CPUs are counted. */
export type Level = keyof CpuPlace;

/** CPUs and where each sits (kubelet's CPUDetails). */
export type CpuPlaces = ReadonlyMap<number, CpuPlace>;

/** The machine as its CPUs see it (kubelet's CPUTopology). */
export interface CpuTopology {
  cpus: number;
  cores: number;
  sockets: number;
  nodes: number;
  uncores: number;
  places: CpuPlaces;
}

/** Thrown where kubelet cannot make sense of a machine, in its words. */
export class TopologyError extends Error {}

/** @throws TopologyError as kubelet's `topology.Discover` */
export function cpuTopologyOf(machine: MachineTopology): CpuTopology {
  if (machine.cpus === 0) throw new TopologyError('could not detect number of cpus');
  const places = new Map<number, CpuPlace>();
  let cores = 0;
  for (const node of machine.nodes) {
    cores += node.cores.length;
    for (const { socket, threads, uncoreCache } of node.cores) {
      if (threads.length === 0) throw new TopologyError('no cpus provided');
      if (new Set(threads).size !== threads.length) throw new TopologyError('cpus provided are not unique');
      const place = { node: node.id, socket, core: Math.min(...threads), uncore: uncoreCache ?? socket };
      for (const cpu of threads) places.set(cpu, place);
    }
  }
  const { cpus, sockets } = machine;
  return { cpus, sockets, cores, places, nodes: idsOf(places, 'node').size, uncores: idsOf(places, 'uncore').size };
}

/** Logical CPUs of a core; 0 on a machine without cores. */
export function cpusPerCore({ cpus, cores }: CpuTopology): number {
  return cores === 0 ? 0 : Math.floor(cpus / cores);
}

/** Logical CPUs of a socket. */
export function cpusPerSocket({ cpus, sockets }: CpuTopology): number {
  return sockets === 0 ? 0 : Math.floor(cpus / sockets);
}

/** Logical CPUs of an uncore cache. */
export function cpusPerUncore({ cpus, uncores }: CpuTopology): number {
  return uncores === 0 ? 0 : Math.floor(cpus / uncores);
}

/** All nodes, sockets ... that the CPUs are of. */
export function idsOf(places: CpuPlaces, level: Level): Set<number> {
  const out = new Set<number>();
  for (const place of places.values()) out.add(place[level]);
  return out;
}

/** All ids of one level within ids of another. */
export function idsWithin(places: CpuPlaces, level: Level, outer: Level, ids: Iterable<number>): Set<number> {
  const [wanted, out] = [new Set(ids), new Set<number>()];
  for (const place of places.values()) if (wanted.has(place[outer])) out.add(place[level]);
  return out;
}

/** CPUs of a level's ids. */
export function cpusWithin(places: CpuPlaces, outer: Level, ids: Iterable<number>): Set<number> {
  const [wanted, out] = [new Set(ids), new Set<number>()];
  for (const [cpu, place] of places) if (wanted.has(place[outer])) out.add(cpu);
  return out;
}

/** Nothing but these CPUs. */
export function onlyCpus(places: CpuPlaces, cpus: CpuSet): Map<number, CpuPlace> {
  return new Map([...places].filter(([cpu]) => cpus.has(cpu)));
}

/** All of one uncore cache; one CPU or none always is. */
export function isUncoreAligned({ places }: CpuTopology, cpus: CpuSet): boolean {
  if (cpus.size <= 1) return true;
  const caches = new Set([...cpus].map((cpu) => places.get(cpu)?.uncore));
  return caches.size === 1 && !caches.has(undefined);
}
