import type { ContainerRecord } from '../../../cri/sim/records.ts';
import { ContainerState } from '../../../cri/generated/runtime/v1/api.ts';
import type { Leak } from '../draw/plan.ts';
import type { Fact } from './facts.ts';
import type { FaultClock } from './fault-clock.ts';
import { hashOf } from './random.ts';
import type { RuntimeEdge } from './runtime-edge.ts';
import type { VirtualTime } from './virtual-time.ts';

const MIB = 2 ** 20;

/** What a container takes: bytes, or process ids. */
export interface ContainerTake {
  memory: number;
  pids: number;
  layer: number;
  log: number;
}

/** What a pod takes; `volume` and `files`: bytes and inodes of its emptyDir. */
export interface PodTake {
  name: string;
  containers: Map<string, ContainerTake>;
  volume: number;
  files: number;
}

/** One run of a leak. */
interface Spill {
  uid: string;
  pod: string;
  container: string;
  /** Id of the container that leaks. */
  id: string;
  leak: Leak;
  from: number;
  /** When the container ended; null while it runs. */
  until: number | null;
  /** When what it held while it ran is given back. */
  freeAt: number;
}

/** Which containers take what: each pod some of all while it runs, and what leaks on top. */
export class PodTakes {
  private readonly time: VirtualTime;
  private readonly faults: FaultClock;
  private readonly runtime: RuntimeEdge;
  private readonly leaksOf: (uid: string) => readonly Leak[];
  private spills: Spill[] = [];

  constructor(ground: {
    time: VirtualTime;
    faults: FaultClock;
    runtime: RuntimeEdge;
    leaksOf: (uid: string) => readonly Leak[];
  }) {
    this.time = ground.time;
    this.faults = ground.faults;
    this.runtime = ground.runtime;
    this.leaksOf = ground.leaksOf;
  }

  /** Does something grow, or will it? */
  get growing(): boolean {
    const { now } = this.time;
    return this.spills.some((spill) => spill.until === null && amountOf(spill, now) < spill.leak.most);
  }

  /** Returns true when a leak begins. */
  take(fact: Fact): boolean {
    if (fact.f === 'container') return this.takeContainer(fact.change, fact.uid, fact.record);
    if (fact.f !== 'host') return false;
    const gone: Record<string, readonly Leak['what'][]> = {
      'host.TearDownPod': ['volume', 'files'],
      'host.RemovePodLogs': ['log'],
      'podLogs.removeFolder': ['log'],
    };
    const what = gone[fact.effect] ?? [];
    this.spills = this.spills.filter(({ uid, leak }) => uid !== fact.uid || !what.includes(leak.what));
    return false;
  }

  /** By UID. */
  all(): Map<string, PodTake> {
    const pods = new Map<string, PodTake>();
    const of = (uid: string, name: string): PodTake => {
      const pod = pods.get(uid) ?? { name, containers: new Map<string, ContainerTake>(), volume: 0, files: 0 };
      pods.set(uid, pod);
      return pod;
    };
    for (const [uid, name] of this.running()) {
      const bytes = sizeOf(uid) * MIB;
      of(uid, name).containers.set('main0', { memory: bytes, pids: sizeOf(uid), layer: bytes, log: 0 });
    }
    const { now } = this.time;
    for (const spill of this.spills) {
      const { what } = spill.leak;
      if (now >= spill.freeAt && (what === 'memory' || what === 'pids')) continue;
      const amount = amountOf(spill, now);
      if (amount === 0) continue;
      const pod = of(spill.uid, spill.pod);
      if (what === 'volume') pod.volume += amount * MIB;
      else if (what === 'files') pod.files += amount;
      else {
        const own = pod.containers.get(spill.container) ?? { memory: 0, pids: 0, layer: 0, log: 0 };
        own[what] += amount * (what === 'pids' ? 1 : MIB);
        pod.containers.set(spill.container, own);
      }
    }
    return pods;
  }

  private takeContainer(change: Extract<Fact, { f: 'container' }>['change'], uid: string, record: ContainerRecord) {
    const { id, metadata, sandbox } = record;
    const { now } = this.time;
    if (change === 'started') {
      const leaks = this.leaksOf(uid).filter(({ container }) => container === metadata.name);
      const place = { uid, pod: sandbox.metadata.name, container: metadata.name, id };
      for (const leak of leaks) this.spills.push({ ...place, leak, from: now, until: null, freeAt: Infinity });
      return leaks.length > 0;
    }
    if (change === 'exited')
      for (const spill of this.spills) {
        if (spill.id !== id || spill.until !== null) continue;
        spill.until = now;
        const late = this.faults.strikes('late-free') !== undefined;
        spill.freeAt = now + (late ? 5_000 + (hashOf(id) % 15_000) : 0);
      }
    if (change === 'removed')
      this.spills = this.spills.filter((spill) => spill.id !== id || spill.leak.what !== 'layer');
    return false;
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

/** So much has leaked by then. */
function amountOf({ leak, from, until }: Spill, now: number): number {
  const ms = Math.min(now, until ?? Infinity) - from - leak.after;
  if (ms < 0) return 0;
  return leak.rate === null ? leak.most : Math.min(leak.most, Math.floor((leak.rate * ms) / 1_000));
}

/** What a pod takes by itself, MiB (or processes). */
function sizeOf(uid: string): number {
  return 100 + (hashOf(uid) % 300);
}
