import type { NodeUsageSource } from '../../../actors/resources/eviction/eviction-ground.ts';
import type { NodeStats, PodStats, Summary } from '../../../actors/resources/stats/summary.ts';
import { ContainerState } from '../../../cri/generated/runtime/v1/api.ts';
import type { Fault } from '../draw/plan.ts';
import type { FaultClock } from './fault-clock.ts';
import { hashOf } from './random.ts';
import type { RuntimeEdge } from './runtime-edge.ts';
import type { VirtualTime } from './virtual-time.ts';

type Pressure = Extract<Fault, { kind: 'pressure' }>;

const MIB = 2 ** 20;
/** What there is of memory and disk, and of process ids. */
const CAPACITY = { memory: 16_384 * MIB, disk: 65_536 * MIB, pids: 32_768 };
/** Thresholds of the simulated node, as its configuration has them. */
const THRESHOLD = { memory: 1_024 * MIB, disk: 1_024 * MIB, pids: 1_000 };
/** By so much less than a threshold is there when pressure begins: one to three pods have to go. */
const SHORT = { memory: 300 * MIB, disk: 300 * MIB, pids: 10 };

/** How much less there is of memory when only its soft threshold is met. */
const SLIGHTLY = -40 * MIB;

/** How the simulated node is told when to evict. */
export const EVICTION_CONFIG = {
  evictionHard: { 'memory.available': '1Gi', 'nodefs.available': '1Gi', 'pid.available': '1k' },
  evictionSoft: { 'memory.available': '1100Mi' },
  evictionSoftGracePeriod: { 'memory.available': '20s' },
  evictionMaxPodGracePeriod: 3,
  evictionPressureTransitionPeriod: 30_000,
};

/**
 * What the node and its pods use: each pod that has running containers some of all, others the rest. In a time of pressure
 * others take so much that pods have to go; when enough have gone nothing is short any more.
 */
export class UsageEdge implements NodeUsageSource {
  private readonly time: VirtualTime;
  private readonly faults: FaultClock;
  private readonly runtime: RuntimeEdge;
  /** What pods were told to take the last time all were measured: MiB of memory and disk, and as many processes. */
  readonly measured = new Map<string, number>();
  /** What others take, by the pressure that is on. */
  private readonly taken = new Map<Pressure, number>();

  constructor(time: VirtualTime, faults: FaultClock, runtime: RuntimeEdge) {
    this.time = time;
    this.faults = faults;
    this.runtime = runtime;
  }

  /** Lets the times of pressure begin and end by themselves. */
  start(): void {
    const at = (ms: number, action: () => void): void => void this.time.after(ms, this.time.world, action, false);
    for (const fault of this.faults.all('pressure')) {
      at(fault.from, () => {
        this.faults.count(fault);
        const { what } = fault;
        const short = fault.slight === true && what === 'memory' ? SLIGHTLY : SHORT[what];
        this.taken.set(fault, Math.max(0, this.available(what) - THRESHOLD[what] + short));
      });
      // Nothing is jumped over meanwhile: regular looks see something.
      for (let ms = 500; ms < fault.for; ms += 500) at(fault.from + ms, () => this.time.busy());
      at(fault.from + fault.for, () => this.taken.delete(fault));
    }
  }

  async nodeAlone(): Promise<NodeStats> {
    const time = this.time.wall() * 1e6;
    const [memory, disk, pids] = (['memory', 'disk', 'pids'] as const).map((what) => this.available(what));
    for (const [fault] of this.taken) if (fault.brief === true) this.taken.delete(fault);
    return Promise.resolve({
      nodeName: 'sim',
      startTime: 0,
      memory: { time, availableBytes: memory ?? 0, workingSetBytes: CAPACITY.memory - (memory ?? 0) },
      fs: { time, availableBytes: disk ?? 0, capacityBytes: CAPACITY.disk },
      rlimit: { time, maxpid: CAPACITY.pids, curproc: CAPACITY.pids - (pids ?? 0) },
    });
  }

  async summary(): Promise<Summary> {
    // Somebody is going to be evicted; else pods are only measured for people.
    if (this.taken.size > 0) this.time.busy();
    this.measured.clear();
    const pods = [...this.running()].map(([uid, name]): PodStats => {
      this.measured.set(uid, sizeOf(uid));
      const bytes = sizeOf(uid) * MIB;
      const memory = { time: null, workingSetBytes: bytes };
      const containers = [{ name: 'main0', startTime: 0, memory, rootfs: { time: null, usedBytes: bytes } }];
      return {
        podRef: { uid, name, namespace: 'default' },
        ...{ startTime: 0, memory, containers, process_stats: { process_count: sizeOf(uid) } },
      };
    });
    return { node: await this.nodeAlone(), pods };
  }

  disks(): Promise<{ imageFs: boolean; splitFs: boolean }> {
    return Promise.resolve({ imageFs: false, splitFs: false });
  }

  private available(what: Pressure['what']): number {
    const uids = [...this.running().keys()];
    const own = uids.reduce((sum, uid) => sum + sizeOf(uid) * (what === 'pids' ? 1 : MIB), 0);
    const others = [...this.taken].reduce((sum, [fault, taken]) => sum + (fault.what === what ? taken : 0), 0);
    return Math.max(0, CAPACITY[what] - own - others);
  }

  /** Names of pods that have running containers, by UID. */
  private running(): Map<string, string> {
    const running = { id: '', state: { state: ContainerState.CONTAINER_RUNNING }, labelSelector: {} };
    const found = new Map<string, string>();
    for (const { sandbox } of this.runtime.core.containers.select(running))
      found.set(sandbox.metadata.uid, sandbox.metadata.name);
    return found;
  }
}

/** What a pod takes, MiB (or processes). */
function sizeOf(uid: string): number {
  return 100 + (hashOf(uid) % 300);
}
