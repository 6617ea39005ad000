import type { CpuSet } from './cpu-set.ts';
import { NO_CPUS, sortedCpus, union } from './cpu-set.ts';
import type { CpuPlace, CpuTopology, Level } from './cpu-topology.ts';
import { cpusPerCore, cpusPerSocket, cpusPerUncore, cpusWithin, idsOf, idsWithin, onlyCpus } from './cpu-topology.ts';

/** In which order single CPUs are taken: core by core, or by number within a socket (option distribute-cpus-across-cores). */
export type CpuOrder = 'packed' | 'spread';

/** One allocation on its way (kubelet's cpuAccumulator): what is free, what was taken, how much is missing. */
export class CpuAccumulator {
  readonly topology: CpuTopology;
  readonly order: CpuOrder;
  free: Map<number, CpuPlace>;
  missing: number;
  taken: CpuSet = NO_CPUS;
  /** NUMA nodes hold sockets here; elsewhere sockets hold NUMA nodes. */
  private readonly nodesFirst: boolean;

  constructor(topology: CpuTopology, available: CpuSet, wanted: number, order: CpuOrder) {
    this.topology = topology;
    this.order = order;
    this.free = onlyCpus(topology.places, available);
    this.missing = wanted;
    this.nodesFirst = topology.sockets >= topology.nodes;
  }

  get satisfied(): boolean {
    return this.missing < 1;
  }

  get hopeless(): boolean {
    return this.missing > this.free.size;
  }

  /** Free CPUs of these ids of a level. */
  freeIn(level: Level, ids: Iterable<number>): Set<number> {
    return cpusWithin(this.free, level, ids);
  }

  take(cpus: CpuSet): void {
    this.taken = union(this.taken, cpus);
    for (const cpu of this.taken) this.free.delete(cpu);
    this.missing -= cpus.size;
  }

  /** Whole nodes and sockets, the greater of them first. */
  takeWhole(): void {
    for (const level of this.nodesFirst ? (['node', 'socket'] as const) : (['socket', 'node'] as const)) {
      this.takeAll(level, level === 'node' ? this.freeNodes() : this.freeSockets());
      if (this.satisfied) return;
    }
  }

  takeCores(): void {
    const size = cpusPerCore(this.topology);
    const whole = this.cores().filter((core) => this.freeIn('core', [core]).size === size);
    this.takeAll('core', whole);
  }

  /** Whole uncore caches, then part of one that has room for the rest (option prefer-align-cpus-by-uncorecache). */
  takeUncores(): void {
    const size = cpusPerUncore(this.topology);
    for (const uncore of this.uncores()) {
      if (this.missing >= size) this.takeAll('uncore', this.freeUncores());
      if (this.satisfied) return;
      this.takePartOf(uncore);
      if (this.satisfied) return;
    }
  }

  /** CPU by CPU. */
  takeRest(): void {
    for (const cpu of this.cpus()) {
      this.take(new Set([cpu]));
      if (this.satisfied) return;
    }
  }

  /** NUMA nodes with a free CPU, those that are fuller first. */
  nodes(): number[] {
    if (this.nodesFirst) return this.sorted(idsOf(this.free, 'node'), 'node');
    return this.sockets().flatMap((socket) => this.sortedWithin('node', 'socket', socket));
  }

  /** How many NUMA nodes can be needed, at least and at most, for what is missing in groups of so many CPUs. */
  nodesNeeded(group: number): { least: number; most: number } {
    const { places } = this.topology;
    const groups = Math.floor((places.size - 1) / group) + 1;
    const perNode = Math.floor((groups - 1) / idsOf(places, 'node').size) + 1;
    const needed = Math.floor((this.missing - 1) / group) + 1;
    return {
      least: Math.floor((needed - 1) / perNode) + 1,
      most: Math.min(needed, idsOf(this.free, 'node').size),
    };
  }

  private takeAll(level: Level, ids: readonly number[]): void {
    for (const id of ids) {
      // What is not free is not taken, where kubelet's count of what is goes wrong: cores or sockets with CPUs that are offline.
      if (this.missing >= cpusWithin(this.topology.places, level, [id]).size) this.take(this.freeIn(level, [id]));
    }
  }

  private takePartOf(uncore: number): void {
    const perCore = cpusPerCore(this.topology);
    const needed = Math.floor((this.missing + perCore - 1) / perCore);
    const cores = sortedCpus(idsWithin(this.free, 'core', 'uncore', [uncore])).slice(0, needed);
    let cpus: CpuSet = this.freeIn('core', cores);
    if (this.missing % 2 !== 0 && perCore > 1 && cpus.size > this.missing) {
      cpus = new Set(sortedCpus(cpus).slice(0, -1));
    }
    if (this.missing === cpus.size) this.take(cpus);
  }

  private sockets(): number[] {
    if (!this.nodesFirst) return this.sorted(idsOf(this.free, 'socket'), 'socket');
    return this.nodes().flatMap((node) => this.sortedWithin('socket', 'node', node));
  }

  private cores(): number[] {
    const outer = this.nodesFirst ? 'socket' : 'node';
    const ids = this.nodesFirst ? this.sockets() : this.nodes();
    return ids.flatMap((id) => this.sortedWithin('core', outer, id));
  }

  private uncores(): number[] {
    return this.nodes().flatMap((node) => this.sortedWithin('uncore', 'node', node));
  }

  private cpus(): number[] {
    if (this.order === 'packed') return this.cores().flatMap((core) => sortedCpus(this.freeIn('core', [core])));
    return this.sockets().flatMap((socket) => sortedCpus(this.freeIn('socket', [socket])));
  }

  private freeNodes(): number[] {
    const { places } = this.topology;
    return this.nodes().filter((id) => this.freeIn('node', [id]).size === cpusWithin(places, 'node', [id]).size);
  }

  private freeSockets(): number[] {
    const size = cpusPerSocket(this.topology);
    return this.sockets().filter((id) => this.freeIn('socket', [id]).size === size);
  }

  private freeUncores(): number[] {
    const { places } = this.topology;
    return this.uncores().filter((id) => this.freeIn('uncore', [id]).size === cpusWithin(places, 'uncore', [id]).size);
  }

  private sortedWithin(level: Level, outer: Level, id: number): number[] {
    return this.sorted(idsWithin(this.free, level, outer, [id]), level);
  }

  /** Those with fewer free CPUs first, then by number. */
  private sorted(ids: Iterable<number>, level: Level): number[] {
    const sizes = new Map<number, number>();
    for (const place of this.free.values()) sizes.set(place[level], (sizes.get(place[level]) ?? 0) + 1);
    return [...ids].sort((a, b) => (sizes.get(a) ?? 0) - (sizes.get(b) ?? 0) || a - b);
  }
}
