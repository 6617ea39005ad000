import type { MachineFacts } from '../../../machines/node-object/node-types.ts';
import { ContainerState } from '../../../cri/generated/runtime/v1/api.ts';
import { containerFacts } from '../../../cri/sim/call-facts.ts';
import { factsMatch } from '../../../cri/sim/glob.ts';
import { nanosToMs } from '../../../cri/sim/nano-clock.ts';
import type { ContainerRecord, SandboxRecord } from '../../../cri/sim/records.ts';
import type { SimCore } from '../../../cri/sim/sim-core.ts';
import type { NodeUsageSource } from '../../resources/eviction/eviction-ground.ts';
import type { ContainerStats, NodeStats, PodStats, Summary } from '../../resources/stats/summary.ts';
import type { FleetClock } from './fleet-clock.ts';
import { sumUntil, valueAt } from './curve.ts';
import type { Curve, UsageRule } from './profile/profile-schema.ts';

/** What {@link SimulatedUsage} is made from. */
export interface SimulatedUsageOptions {
  core: SimCore;
  facts: () => MachineFacts;
  nodeName: string;
  rules: readonly UsageRule[];
  clock: Pick<FleetClock, 'now' | 'toReal' | 'speed'>;
}

/** What the system itself takes beside all pods. */
const SYSTEM = { memory: 256 * 2 ** 20, milliCpus: 20, tasks: 150 };
const MAX_TASKS = 32_768;
const INODES = 6_553_600;
const NANOS = 1e6;
/** A kernel gives memory by pages and disk by blocks: an amount that is no multiple would be told in bytes, as no kubelet tells any. */
const PIECE = 4096;

/** What a simulated node and its pods use, by the curves of the profile. */
export class SimulatedUsage implements NodeUsageSource {
  /** Bytes that something else takes of memory and of the disk. */
  readonly taken = { memory: 0, disk: 0 };
  private readonly options: SimulatedUsageOptions;
  private readonly bootedAt: number;

  constructor(options: SimulatedUsageOptions) {
    this.options = options;
    this.bootedAt = options.clock.now();
  }

  async nodeAlone(): Promise<NodeStats> {
    return Promise.resolve(this.node(this.pods(this.options.clock.now())));
  }

  async summary(): Promise<Summary> {
    const pods = this.pods(this.options.clock.now());
    return Promise.resolve({ node: this.node(pods), pods });
  }

  disks(): Promise<{ imageFs: boolean; splitFs: boolean }> {
    return Promise.resolve({ imageFs: false, splitFs: false });
  }

  private node(pods: readonly PodStats[]): NodeStats {
    const { nodeName, core, clock } = this.options;
    const { memoryBytes, ephemeralStorageBytes } = this.options.facts();
    const now = clock.now();
    const time = this.timeOf(now);
    const sum = (of: (pod: PodStats) => number | undefined): number =>
      pods.reduce((total, pod) => total + (of(pod) ?? 0), 0);
    const used = Math.min(memoryBytes, SYSTEM.memory + this.taken.memory + sum((pod) => pod.memory?.workingSetBytes));
    const capacityBytes = ephemeralStorageBytes ?? 0;
    const ofPods = sum((pod) => pod['ephemeral-storage']?.usedBytes);
    const usedBytes = Math.min(capacityBytes, core.images.usedBytes + this.taken.disk + ofPods);
    const fs = {
      ...{ time, capacityBytes, usedBytes, availableBytes: capacityBytes - usedBytes },
      ...{ inodes: INODES, inodesFree: INODES - 10_000, inodesUsed: 10_000 },
    };
    const systemNanos = ((now - this.bootedAt) / clock.speed / 1000) * SYSTEM.milliCpus * 1e6;
    return {
      nodeName,
      startTime: this.timeOf(this.bootedAt),
      cpu: {
        time,
        usageNanoCores: SYSTEM.milliCpus * 1e6 + sum((pod) => pod.cpu?.usageNanoCores),
        usageCoreNanoSeconds: Math.round(systemNanos + sum((pod) => pod.cpu?.usageCoreNanoSeconds)),
      },
      memory: { time, availableBytes: memoryBytes - used, usageBytes: used, workingSetBytes: used, rssBytes: used },
      fs,
      runtime: { imageFs: { ...fs, usedBytes: core.images.usedBytes }, containerFs: fs },
      rlimit: {
        time,
        maxpid: MAX_TASKS,
        curproc: SYSTEM.tasks + sum((pod) => pod.process_stats?.process_count),
      },
    };
  }

  private pods(now: number): PodStats[] {
    const { core } = this.options;
    const pods: PodStats[] = [];
    for (const sandbox of core.sandboxes.inState(0)) pods.push(this.pod(sandbox as SandboxRecord, now));
    return pods;
  }

  private pod(sandbox: SandboxRecord, now: number): PodStats {
    const { uid, name, namespace } = sandbox.metadata;
    const containers = [...sandbox.containers]
      .filter(({ state }) => state === ContainerState.CONTAINER_RUNNING)
      .map((record) => this.container(record, now));
    const sum = (of: (each: ContainerStats) => number | undefined): number =>
      containers.reduce((total, each) => total + (of(each) ?? 0), 0);
    const time = this.timeOf(now);
    const memory = sum((each) => each.memory?.workingSetBytes);
    return {
      podRef: { name, namespace, uid },
      startTime: this.timeOf(nanosToMs(sandbox.createdAt)),
      containers,
      cpu: {
        time,
        usageNanoCores: sum((each) => each.cpu?.usageNanoCores),
        usageCoreNanoSeconds: sum((each) => each.cpu?.usageCoreNanoSeconds),
      },
      memory: { time, usageBytes: memory, workingSetBytes: memory, rssBytes: memory },
      'ephemeral-storage': { time, usedBytes: sum((each) => each.rootfs?.usedBytes), inodesUsed: containers.length },
      process_stats: { process_count: containers.length + 1 },
    };
  }

  private container(record: ContainerRecord, now: number): ContainerStats {
    const rule = this.ruleOf(record);
    const { speed } = this.options.clock;
    const startedAt = nanosToMs(record.startedAt);
    const age = Math.max(0, now - startedAt);
    const time = this.timeOf(now);
    const { cpuNanoCores, memoryBytes } = record.behaviour.usage;
    const at = (curve: Curve | undefined, otherwise: number): number =>
      Math.round(curve === undefined ? otherwise : valueAt(curve, age));
    const memory = wholePieces(at(rule?.memory, memoryBytes));
    // Whoever reads it divides by the time that went by for him.
    const nanos = (rule === undefined ? (cpuNanoCores * age) / 1000 : sumUntil(rule.cpu, age) * 1e6) / speed;
    return {
      name: record.metadata.name,
      startTime: this.timeOf(startedAt),
      cpu: {
        time,
        usageNanoCores: rule === undefined ? cpuNanoCores : Math.round(valueAt(rule.cpu, age) * 1e6),
        usageCoreNanoSeconds: Math.round(nanos),
      },
      memory: { time, usageBytes: memory, workingSetBytes: memory, rssBytes: memory },
      rootfs: { time, usedBytes: wholePieces(at(rule?.disk, PIECE)), inodesUsed: 1 },
      logs: { time, usedBytes: 0, inodesUsed: 1 },
    };
  }

  /** A moment of the nodes' clock as statistics have it: nanoseconds of the machine's. */
  private timeOf(at: number): number {
    return this.options.clock.toReal(at) * NANOS;
  }

  private ruleOf(record: ContainerRecord): UsageRule | undefined {
    const { rules } = this.options;
    if (rules.length === 0) return undefined;
    const facts = containerFacts('', record);
    return rules.find(({ match }) => factsMatch(match, facts));
  }
}

/** An amount of memory or disk, bytes, as a kernel gives it: rounded up. */
export function wholePieces(bytes: number): number {
  return Math.ceil(bytes / PIECE) * PIECE;
}
