import type { NodeAndPods } from '../../../machines/eviction/soundings.ts';
import type { NodeUsageSource } from '../../../actors/resources/eviction/eviction-ground.ts';
import type { NodeStats, PodStats, Summary } from '../../../actors/resources/stats/summary.ts';
import type { Fault, Leak, Plan } from '../draw/plan.ts';
import type { Fact } from './facts.ts';
import type { FaultClock } from './fault-clock.ts';
import { nodeLie, podsLie } from './lying-stats.ts';
import { CAPACITY, SOFT_THRESHOLD, THRESHOLD } from './node-sizes.ts';
import { nodeStats, podStats } from './node-stats.ts';
import type { Taken } from './node-stats.ts';
import { PodTakes } from './pod-takes.ts';
import { hashOf } from './random.ts';
import type { RuntimeEdge } from './runtime-edge.ts';
import type { VirtualTime } from './virtual-time.ts';

type Pressure = Extract<Fault, { kind: 'pressure' }>;

const MIB = 2 ** 20;
/** By so much less than a threshold is there when pressure begins: one to three pods have to go. */
const SHORT = { memory: 300 * MIB, disk: 300 * MIB, pids: 10 };
/** How much less there is of memory when only its soft threshold is met. */
const SLIGHTLY = -40 * MIB;
/** Stats that lag are as old as that at most, ms (cAdvisor's longest housekeeping interval). */
const OLDEST_MS = 15_000;
/** While something grows, is short, or is told to be, nothing is jumped over; for so long after the last change, ms. */
const PULSE_MS = 1_000;
const STILL_MS = 300_000;

/** What the agent was told of usage; times in ms since the start. */
export interface Told {
  /** When it was answered. */
  at: number;
  /** When it was so. */
  asOf: number;
  node: NodeStats;
  /** Null: only the node was asked for. */
  pods: PodStats[] | null;
}

/** What the edge is made from. */
export interface UsageEdgeOptions {
  time: VirtualTime;
  faults: FaultClock;
  runtime: RuntimeEdge;
  node: Plan['node'];
  leaksOf: (uid: string) => readonly Leak[];
  /** Does the living agent tell of pressure? */
  pressed: () => boolean;
  tell: (fact: Fact) => void;
}

/**
 * What the node and its pods use: each pod that has running containers some of all, others the rest. In a time of pressure
 * others take so much that pods have to go; when enough have gone nothing is short any more. Containers can leak, too.
 */
export class UsageEdge implements NodeUsageSource {
  /** What was told last, oldest first. */
  readonly told: Told[] = [];
  private readonly options: UsageEdgeOptions;
  private readonly takes: PodTakes;
  /** What others take, by the pressure that is on. */
  private readonly taken = new Map<Pressure, number>();
  private pulsing = false;
  private lastChange = 0;
  private snapshot: Omit<Told, 'at'> | null = null;

  constructor(options: UsageEdgeOptions) {
    this.options = options;
    this.takes = new PodTakes(options);
  }

  /** Lets the times of pressure begin and end by themselves. */
  start(): void {
    const { time, faults, runtime } = this.options;
    const at = (ms: number, action: () => void): void => void time.after(ms, time.world, action, false);
    for (const fault of faults.all('pressure')) {
      at(fault.from, () => {
        faults.count(fault);
        const { what } = fault;
        const short = fault.slight === true && what === 'memory' ? SLIGHTLY : SHORT[what];
        this.taken.set(fault, Math.max(0, this.available(what) - THRESHOLD[what] + short));
      });
      // Nothing is jumped over meanwhile: regular looks see something.
      for (let ms = 500; ms < fault.for; ms += 500) at(fault.from + ms, () => time.busy());
      at(fault.from + fault.for, () => this.taken.delete(fault));
    }
    for (const fault of faults.all('litter'))
      at(fault.from, () => {
        faults.count(fault);
        for (let i = 0; i < fault.images; i++) runtime.core.images.add(`litter/of-${fault.mib}:${fault.from}-${i}`);
        this.pulse();
      });
  }

  /** Something happened in the world. */
  take(fact: Fact): void {
    if (this.takes.take(fact)) this.pulse();
  }

  /** All of memory that is free or can be at once. */
  memoryNow(): NodeAndPods {
    return { node: this.options.node.disks === undefined ? null : this.available('memory'), pods: null };
  }

  async nodeAlone(): Promise<NodeStats> {
    const { node } = await this.tell(false);
    return node;
  }

  async summary(): Promise<Summary> {
    const { node, pods } = await this.tell(true);
    return { node, pods: pods ?? [] };
  }

  disks(): Promise<{ imageFs: boolean; splitFs: boolean }> {
    const { disks = 'one' } = this.options.node;
    return Promise.resolve({ imageFs: disks !== 'one', splitFs: disks === 'split' });
  }

  private tell(whole: boolean): Promise<Told> {
    const { time, faults } = this.options;
    // Somebody is going to be evicted; else pods are only measured for people.
    if (whole && this.taken.size > 0) time.busy();
    const fault = faults.strikes('stats');
    if (fault?.how === 'fail') return Promise.reject(new Error('a fault of the simulation'));
    const stale = fault?.how === 'old' && this.snapshot !== null && time.now - this.snapshot.asOf < OLDEST_MS;
    const { asOf, node, pods } = stale && this.snapshot !== null ? this.snapshot : this.look();
    const lie = fault?.how === 'lie' ? hashOf('lie', time.now) : null;
    const told: Told = {
      ...{ at: time.now, asOf, node: lie === null ? node : nodeLie(node, lie) },
      pods: whole ? (lie === null ? pods : podsLie(pods ?? [], lie)) : null,
    };
    this.told.push(told);
    if (this.told.length > 8) this.told.shift();
    this.options.tell({ f: 'usage' });
    for (const [each] of this.taken) if (each.brief === true) this.taken.delete(each);
    return Promise.resolve(told);
  }

  private look(): Omit<Told, 'at'> {
    const { time, node } = this.options;
    const wall = time.wall() * 1e6;
    const pods = this.takes.all();
    this.snapshot = {
      asOf: time.now,
      node: nodeStats(this.sums(), node.disks, wall),
      pods: [...pods].map(([uid, pod]) => podStats(uid, pod)),
    };
    return this.snapshot;
  }

  private sums(): Taken {
    const { runtime, node } = this.options;
    const sum: Taken = { memory: 0, pids: 0, layers: 0, logs: 0, volumes: 0, files: 0, images: 0, others: {} };
    for (const { containers, volume, files } of this.takes.all().values()) {
      for (const { memory, pids, layer, log } of containers.values()) {
        sum.memory += memory;
        sum.pids += pids;
        sum.layers += layer;
        sum.logs += log;
      }
      sum.volumes += volume;
      sum.files += files;
    }
    if (node.disks !== undefined) sum.images = runtime.core.images.usedBytes;
    for (const [{ what }, bytes] of this.taken) sum.others[what] = (sum.others[what] ?? 0) + bytes;
    return sum;
  }

  private available(what: Pressure['what']): number {
    const { memory, fs, rlimit } = nodeStats(this.sums(), this.options.node.disks, 0);
    if (what === 'memory') return memory?.availableBytes ?? 0;
    return what === 'disk' ? (fs?.availableBytes ?? 0) : (rlimit?.maxpid ?? 0) - (rlimit?.curproc ?? 0);
  }

  /** Nothing is jumped over while something goes on here. */
  private pulse(): void {
    const { time } = this.options;
    this.lastChange = time.now;
    if (this.pulsing) return;
    this.pulsing = true;
    const beat = (): void => {
      if (this.takes.growing) this.lastChange = time.now;
      this.pulsing = time.now - this.lastChange < STILL_MS && (this.takes.growing || this.isShort);
      if (this.pulsing) time.after(PULSE_MS, time.world, beat, false);
    };
    time.after(PULSE_MS, time.world, beat, false);
  }

  private get isShort(): boolean {
    if (this.options.pressed()) return true;
    const { fs, memory, runtime, rlimit } = nodeStats(this.sums(), this.options.node.disks, 0);
    const disks = [fs, runtime?.imageFs, runtime?.containerFs];
    return (
      (memory?.availableBytes ?? 0) < SOFT_THRESHOLD.memory ||
      disks.some((disk) => disk !== undefined && (disk.availableBytes ?? 0) < SOFT_THRESHOLD.disk) ||
      disks.some((disk) => disk?.inodesFree !== undefined && disk.inodesFree < THRESHOLD.inodes) ||
      CAPACITY.pids - (rlimit?.curproc ?? 0) < THRESHOLD.pids
    );
  }
}
