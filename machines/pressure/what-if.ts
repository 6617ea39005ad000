import { candidateFrom, partsOf } from '../eviction/candidates.ts';
import type { Candidate } from '../eviction/candidates.ts';
import type {
  EvictionContext,
  EvictionMessage,
  EvictionOrder,
  EvictionSettings,
} from '../eviction/eviction-context.ts';
import { initialEviction } from '../eviction/eviction-context.ts';
import { decideEviction } from '../eviction/eviction-step.ts';
import type { LocalLimit } from '../eviction/local-storage.ts';
import type { Observation, Observations } from '../eviction/observations.ts';
import { usageOf } from '../eviction/pod-use.ts';
import type { PodUse } from '../eviction/pod-use.ts';
import { reclaimPlan } from '../eviction/reclaim-plan.ts';
import { resourceOf } from '../eviction/signals.ts';
import type { Pressure, Signal } from '../eviction/signals.ts';
import type { Threshold } from '../eviction/thresholds.ts';
import { UseTimeline } from './use-timeline.ts';

/** An eviction, as it was or would have been. */
export interface SupposedEviction {
  /** Ms since the epoch. */
  at: number;
  uid: string;
  namespace: string;
  name: string;
  signal: Signal | LocalLimit;
  /** What ran short; null for a limit of the pod's own. */
  short: { threshold: Threshold; observed: Observation; candidate: Candidate } | null;
}

/** What a record comes to with other settings. */
export interface WhatIf {
  /** What the record covers, ms since the epoch. */
  from: number;
  to: number;
  /** With these settings. */
  would: SupposedEviction[];
  /** As it was. */
  was: SupposedEviction[];
  /** Conditions of the node and when they changed, with these settings. */
  conditions: { at: number; conditions: Pressure[] }[];
}

/**
 * Steps the eviction machine through what it was told, with other settings. What a pod that would have gone takes in the record
 * counts as given back, and what one takes that would have stayed as taken; pods end before the next look, and unused
 * images that were counted can be removed once.
 * @param first the machine before the first message
 */
export function whatIf(
  first: { at: number; context: EvictionContext },
  messages: readonly EvictionMessage[],
  change: (settings: EvictionSettings) => EvictionSettings,
): WhatIf {
  const { podsAt, pods } = first.context.soundings;
  const uses = new UseTimeline(pods, podsAt ?? first.at, messages);
  const was = new Course(first.context);
  const would = new Supposed(uses, was);
  would.begin(first, change);
  for (const message of messages) {
    was.take(message);
    if (message.type === 'eviction.start') would.take({ ...message, settings: change(message.settings) });
    else if (message.type === 'eviction.disks' || message.type === 'eviction.clock') would.take(message);
    else if (message.type === 'eviction.looked' || message.type === 'eviction.sounded') would.look(message);
  }
  const to = Math.max(first.at, ...messages.slice(-1).map(({ at }) => at));
  return { from: first.at, to, would: would.evictions, was: was.evictions, conditions: would.conditions };
}

/** The machine on its way, and whom it evicts. */
class Course {
  context: EvictionContext;
  readonly evictions: SupposedEviction[] = [];
  readonly conditions: WhatIf['conditions'] = [];

  constructor(context: EvictionContext) {
    this.context = context;
  }

  take(message: EvictionMessage): EvictionOrder[] {
    const { patch, effects = [] } = decideEviction(this.context, message);
    this.context = { ...this.context, ...patch };
    for (const order of effects) {
      if (order.type === 'status.post') this.conditions.push({ at: message.at, conditions: this.context.conditions });
      if (order.type === 'pod.evict') this.evicts(order, message.at);
    }
    return effects;
  }

  private evicts({ uid, namespace, name, signal }: Extract<EvictionOrder, { type: 'pod.evict' }>, at: number): void {
    const { round } = this.context;
    const candidate = round?.threshold.signal === signal ? round.ranking.find((each) => each.uid === uid) : undefined;
    const short =
      round === null || candidate === undefined
        ? null
        : { threshold: round.threshold, observed: round.observed, candidate };
    this.evictions.push({ at, uid, namespace, name, signal, short });
  }
}

/** The same machine in a world that its own evictions change. */
class Supposed extends Course {
  private readonly uses: UseTimeline;
  private readonly was: Course;
  /** Bytes of unused images that were removed. */
  private removed = 0;

  constructor(uses: UseTimeline, was: Course) {
    super(initialEviction());
    this.uses = uses;
    this.was = was;
  }

  begin({ at, context }: { at: number; context: EvictionContext }, change: (s: EvictionSettings) => EvictionSettings) {
    if (context.settings.thresholds.length > 0)
      this.take({ type: 'eviction.start', at, settings: change(context.settings) });
    if (context.disks !== null) this.take({ type: 'eviction.disks', at, ...context.disks });
  }

  look(message: Extract<EvictionMessage, { type: 'eviction.looked' | 'eviction.sounded' }>): void {
    const { at } = message;
    for (const { uid } of this.context.victims) this.take({ type: 'eviction.cleaned', at, uid });
    const offenders = message.type === 'eviction.looked' ? message.offenders : [];
    const left = offenders.filter(({ uid }) => !this.has(uid));
    let orders = this.take({ type: 'eviction.looked', at, seen: this.adjusted(message.seen, at), offenders: left });
    for (;;) {
      const asked = orders.find(({ type }) => type === 'node.reclaim' || type === 'pods.measure');
      if (asked === undefined) return;
      orders = this.take(this.answer(asked, message.seen, at));
    }
  }

  private answer(asked: EvictionOrder, seen: Observations, at: number): EvictionMessage {
    if (asked.type === 'node.reclaim') {
      if (asked.what.includes('images'))
        this.removed = Math.max(this.removed, this.was.context.soundings.spare?.images?.bytes ?? 0);
      return { type: 'eviction.reclaimed', at, failures: [], seen: this.adjusted(seen, at) };
    }
    const { disks, round } = this.context;
    if (disks === null || round === null) return { type: 'eviction.measured', at, candidates: null };
    const { signal } = round.threshold;
    const there = [...this.uses.at(at).filter(({ uid }) => !this.has(uid) && !this.spares(uid)), ...this.spared(at)];
    return { type: 'eviction.measured', at, candidates: there.map((use) => candidateFrom(use, signal, disks)) };
  }

  /** Has it gone here? */
  private has(uid: string): boolean {
    return this.evictions.some((each) => each.uid === uid);
  }

  private spares(uid: string): boolean {
    return this.was.evictions.some((each) => each.uid === uid) && !this.has(uid);
  }

  /** Pods that went in the record, and are still there here. */
  private spared(at: number): PodUse[] {
    return this.was.evictions.flatMap(({ uid }) => (this.has(uid) ? [] : (this.uses.lastUntil(uid, at) ?? [])));
  }

  /** What would have been seen. */
  private adjusted(seen: Observations, at: number): Observations {
    const { disks } = this.context;
    if (disks === null) return seen;
    const gone = this.evictions.flatMap(({ uid }) => this.uses.useAt(uid, at) ?? []);
    const spared = this.spared(at).filter(({ uid }) => this.uses.useAt(uid, at) === null);
    const out: Observations = {};
    for (const [name, observed] of Object.entries(seen)) {
      const signal = name as Signal;
      const resource = resourceOf(signal);
      const sum = (all: readonly PodUse[]): number =>
        all.reduce((total, use) => total + usageOf(use, resource, partsOf(signal, disks)), 0);
      const images =
        resource === 'ephemeral-storage' && reclaimPlan(signal, disks).includes('images') ? this.removed : 0;
      const available = observed.available + sum(gone) - sum(spared) + images;
      out[signal] = { ...observed, available: Math.max(0, Math.min(observed.capacity, available)) };
    }
    return out;
  }
}
