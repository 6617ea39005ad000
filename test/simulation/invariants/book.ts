import type { ContainerRecord } from '../../../cri/sim/records.ts';
import type { PodContext } from '../../../machines/pod/pod-context.ts';
import { podState } from '../../../machines/pod/pod-step.ts';
import type { Fact } from '../world/facts.ts';
import type { World } from '../world/world.ts';

/** A container that was once made. */
export interface KnownContainer {
  id: string;
  uid: string;
  name: string;
  sandboxId: string;
  record: ContainerRecord;
  /** Ms since the start; null = not yet. */
  startedAt: number | null;
  exitedAt: number | null;
}

/** What is known of a pod's machine since this life of the agent. */
export interface KnownPod {
  state: string;
  context: PodContext;
  /** When its machine first said that it ends, in any life; null when it did not. */
  endingSince: number | null;
}

/** What several rules need to know of the past. */
export class Book {
  readonly containers = new Map<string, KnownContainer>();
  readonly byName = new Map<string, KnownContainer[]>();
  readonly pods = new Map<string, KnownPod>();
  /** When the clock was last set, or the agent last died, ms since the start. */
  lastBreak = -Infinity;
  /** When the agent last began or died, ms since the start. */
  lastAgent = -Infinity;
  private readonly world: World;

  constructor(world: World) {
    this.world = world;
    for (const fault of world.faults.all('clock'))
      world.time.after(fault.from, world.time.world, () => (this.lastBreak = world.time.now), false);
  }

  take(fact: Fact): void {
    const { now } = this.world.time;
    switch (fact.f) {
      case 'container':
        this.takeContainer(fact, now);
        break;
      case 'step': {
        const state = podState(fact.after);
        const before = this.pods.get(fact.uid);
        const ending = state.startsWith('syncing') ? null : now;
        this.pods.set(fact.uid, { state, context: fact.after.context, endingSince: before?.endingSince ?? ending });
        break;
      }
      case 'finished':
        this.pods.delete(fact.uid);
        // A static pod that comes back is another life under the same UID.
        for (const key of [...this.byName.keys()]) if (key.startsWith(`${fact.uid}/`)) this.byName.delete(key);
        break;
      case 'agent':
        this.lastBreak = this.lastAgent = now;
        if (fact.change === 'crashed') this.forgetEnds();
        if (fact.change === 'started') this.forgetUnrecorded();
        break;
      case 'worker':
        this.lastBreak = now;
        break;
      default:
    }
  }

  /** Containers of this name that the pod had, oldest first. */
  of(uid: string, name: string): readonly KnownContainer[] {
    return this.byName.get(`${uid}/${name}`) ?? [];
  }

  /** Running containers of a pod. */
  running(uid: string): KnownContainer[] {
    return [...this.containers.values()].filter((c) => c.uid === uid && c.record.state === 1);
  }

  private takeContainer({ change, uid, record }: Extract<Fact, { f: 'container' }>, now: number): void {
    const { id, metadata, sandbox } = record;
    if (change === 'created') {
      const made = { id, uid, name: metadata.name, sandboxId: sandbox.id, record, startedAt: null, exitedAt: null };
      this.containers.set(id, made);
      const key = `${uid}/${metadata.name}`;
      this.byName.set(key, [...(this.byName.get(key) ?? []), made]);
    }
    const known = this.containers.get(id);
    if (known === undefined) return;
    if (change === 'started') known.startedAt = now;
    if (change === 'exited') known.exitedAt = now;
  }

  /** Of what was not recorded an agent has the API server's word alone, and that may be an old one. */
  private forgetUnrecorded(): void {
    if (!this.world.listsLag) return;
    for (const [uid, { endingSince }] of this.pods)
      if (endingSince !== null && this.world.memoryLostSince(endingSince)) this.pods.delete(uid);
  }

  /**
   * A static pod whose file is there when the agent comes back goes on, whatever the agent had begun before. So does one
   * that a list which lagged did not name, so that it was taken for an orphan: the next agent's list names it.
   */
  private forgetEnds(): void {
    for (const [uid, { context }] of this.pods)
      if (context.source === 'orphan' || this.world.workload.planOf(uid)?.source !== 'api') this.pods.delete(uid);
  }
}

/**
 * Which UIDs stand for another life after this: a static pod's once its machine has ended, its file was put back, or the
 * agent died, which does not know then what it had told of it. Null for all other facts.
 */
export function endedLives(fact: Fact, { workload }: World): ((uid: string) => boolean) | null {
  if (fact.f === 'finished' || (fact.f === 'change' && fact.what === 'restore')) return (uid) => uid === fact.uid;
  if (fact.f === 'agent' && fact.change === 'crashed') return (uid) => workload.planOf(uid)?.source !== 'api';
  return null;
}
