import { partsOf } from '../../../machines/eviction/candidates.ts';
import type { Candidate } from '../../../machines/eviction/candidates.ts';
import { roundWaits } from '../../../machines/eviction/eviction-context.ts';
import type { EvictionContext, EvictionMessage, EvictionOrder } from '../../../machines/eviction/eviction-context.ts';
import { evictionMachine } from '../../../machines/eviction/eviction-machine.ts';
import { refusedUnderPressure } from '../../../machines/eviction/admit-under-pressure.ts';
import { hasLocalLimit } from '../../../machines/eviction/local-storage.ts';
import { isNews } from '../../../machines/eviction/look.ts';
import { pressureOf } from '../../../machines/eviction/signals.ts';
import { observe, thresholdsMet } from '../../../machines/eviction/observations.ts';
import type { NodeFigures, Observations } from '../../../machines/eviction/observations.ts';
import type { Signal } from '../../../machines/eviction/signals.ts';
import type { NodeAndPods, PodsMeasured } from '../../../machines/eviction/soundings.ts';
import { memoryLeft, podsToTell, worthTelling } from '../../../machines/eviction/soundings.ts';
import { parseThresholds } from '../../../machines/eviction/thresholds.ts';
import type { Threshold } from '../../../machines/eviction/thresholds.ts';
import { bornSnapshot } from '../../../machines/machine-step/step.ts';
import type { NodePressure } from '../../../machines/node-object/node-types.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ClockSteps } from '../../host/time/clock-steps.ts';
import type { Timer } from '../../host/time/clock.ts';
import { SingleMachine } from '../../record/host/single-machine.ts';
import type { EvictionSnapshot } from '../../record/machines/eviction.ts';
import { eviction } from '../../record/machines/eviction.ts';
import type { Summary } from '../stats/summary.ts';
import { activePods, hasEnded, isCleanedUp } from './active-pods.ts';
import { carryOut } from './carry-out.ts';
import type { AskingOrder } from './carry-out.ts';
import type { EvictionGround, NodeUsageSource } from './eviction-ground.ts';
import { seenOnceFreed, summaryWithLayersSince } from './late-figures.ts';
import type { Waiting } from './late-figures.ts';
import { Meanwhile } from './meanwhile.ts';
import { MemoryWatch } from './memory-watch.ts';
import { candidatesOf, offendersOf, usesOf } from './pods-of-summary.ts';

/** Time between two looks at the node, ms (kubelet's evictionMonitoringPeriod). */
const LOOK_MS = 10_000;
/** Time between two looks at a pod that was evicted, ms (kubelet's podCleanupPollFreq). */
const POLL_MS = 1_000;

/** Hosts the eviction machine: looks at what the node and its pods use, and carries out what follows. */
class Eviction {
  readonly name = 'eviction';
  private readonly ground: EvictionGround;
  private readonly usage: NodeUsageSource;
  private readonly host: SingleMachine<EvictionSnapshot, EvictionMessage, EvictionOrder>;
  private readonly watch: MemoryWatch;
  private timer: Timer | undefined;
  private looking = false;
  /** Much has gone while a look was under way. */
  private again = false;
  private stopped = false;
  /** A pod that was evicted has ended right before this look: its layers go only now. */
  private freeing = false;
  /** Why the last look failed; null when it did not. */
  private failure: string | null = null;
  private readonly clockSteps: ClockSteps;
  private readonly meanwhile: Meanwhile;

  constructor(ground: EvictionGround, usage: NodeUsageSource) {
    this.ground = ground;
    this.usage = usage;
    this.meanwhile = new Meanwhile(ground.clock, LOOK_MS);
    this.clockSteps = new ClockSteps(ground.clock);
    const read = (): NodeAndPods => usage.memoryNow?.() ?? { node: null, pods: null };
    this.watch = new MemoryWatch({ clock: ground.clock, read, wake: () => this.lookNow() });
    this.host = new SingleMachine(
      eviction,
      bornSnapshot(evictionMachine, undefined) as EvictionSnapshot,
      ground.journal,
    );
  }

  start(): void {
    const { config, clock } = this.ground;
    const settings = {
      thresholds: thresholdsOf(this.ground),
      transitionMs: config.evictionPressureTransitionPeriod,
      maxPodGraceSeconds: config.evictionMaxPodGracePeriod,
      endsForGood: true,
      evictsOnce: true,
    };
    this.take({ type: 'eviction.start', at: this.now(), settings });
    this.awaitSources(clock.steady() + LOOK_MS);
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
    this.watch.disarm();
    this.meanwhile.wake();
    this.host.close();
  }

  pressure(): NodePressure {
    const { conditions } = this.context;
    return {
      memory: conditions.includes('MemoryPressure'),
      disk: conditions.includes('DiskPressure'),
      pid: conditions.includes('PIDPressure'),
    };
  }

  refuses(pod: Pod): { reason: string; message: string } | null {
    const comparison = this.ground.featureGates.enabled('TaintTolerationComparisonOperators');
    return refusedUnderPressure(pod, this.context.conditions, comparison);
  }

  /**
   * Ms since the epoch. The machine hears first that the clock was set, so that none of its times is compared with one of another
   * clock. (Times of a `spanClock` would need no such message, but people read these, beside those of what was seen.)
   */
  private now(): number {
    const byMs = this.clockSteps.next();
    const now = this.ground.clock.now();
    if (byMs !== 0) this.host.attempt({ type: 'eviction.clock', at: now, byMs }, this.ground.log);
    return now;
  }

  private get context(): EvictionContext {
    return this.host.state.context;
  }

  private get isEnding(): boolean {
    return this.context.focus.startsWith('ending.');
  }

  /**
   * The first look comes when all sources have spoken, or at `latest`: what runs already must not be refused when the agent starts
   * anew, for a pressure that it lives with.
   */
  private awaitSources(latest: number): void {
    const { clock, sourcesReady } = this.ground;
    if (sourcesReady() || clock.steady() >= latest) this.later(0);
    else this.timer = clock.lookAfter(POLL_MS / 10, () => this.awaitSources(latest));
  }

  private later(ms: number): void {
    if (!this.stopped) this.timer = this.ground.clock.lookAfter(ms, () => void this.turn());
  }

  /** Between two looks much memory has gone. */
  private lookNow(): void {
    this.again = this.looking;
    if (this.looking) this.meanwhile.wake();
    if (this.stopped || this.looking) return;
    this.timer?.cancel();
    void this.turn();
  }

  /** One look, at the node or at the pods that go; never rejects. */
  private async turn(): Promise<void> {
    const waited = this.isEnding;
    this.looking = true;
    this.again = false;
    this.watch.disarm();
    try {
      if (waited) this.lookAtVictims();
      else await this.lookAtNode();
      this.tellFailure(null);
    } catch (error) {
      this.tellFailure(error);
    }
    this.looking = false;
    this.freeing = waited && !this.isEnding;
    // After an eviction it is seen at once what it has brought.
    this.later(this.isEnding ? POLL_MS : this.freeing || this.again ? 0 : LOOK_MS);
  }

  /** A failure is told when it begins, and that it has ended. */
  private tellFailure(err: unknown): void {
    const before = this.failure;
    this.failure = err === null ? null : messageOf(err);
    if (this.stopped || this.failure === before) return;
    const { log } = this.ground;
    if (err === null) log.info('Eviction manager: synchronizes again');
    else log.error({ err }, 'Eviction manager: failed to synchronize');
  }

  private async lookAtNode(): Promise<void> {
    const { config, pods, stateOf } = this.ground;
    await this.endRound();
    if (this.context.disks === null) {
      const { imageFs, splitFs } = await this.usage.disks();
      await this.tell({ type: 'eviction.disks', at: this.now(), imageFs, splitFs });
    }
    const limited = config.localStorageCapacityIsolation ? activePods(pods(), stateOf).filter(hasLocalLimit) : [];
    // Only limits of pods need figures of pods.
    const summary = limited.length > 0 ? await this.usage.summary() : null;
    const seen = observe((summary?.node ?? (await this.usage.nodeAlone())) as NodeFigures);
    const offenders = summary === null ? [] : offendersOf(limited, summary, this.context.disks?.imageFs === true);
    const at = this.now();
    this.watch.arm(memoryLeft(this.context.thresholds, seen));
    if (offenders.length > 0 || isNews(this.context, seen, at))
      await this.tell({ type: 'eviction.looked', at, seen, offenders });
    else await this.sound(seen, at, summary);
  }

  /** A round that an answer is missing of, since whoever was asked or the machine failed at it, would last for ever: it is answered for. */
  private async endRound(): Promise<void> {
    const { focus } = this.context;
    const at = this.now();
    if (focus === 'measuring') this.take({ type: 'eviction.measured', at, candidates: null });
    else if (focus === 'reclaiming') await this.tell({ type: 'eviction.reclaimed', at, failures: [], seen: null });
  }

  /** Nothing is short: what has moved since is told, for people, and now and then what pods take. */
  private async sound(seen: Observations, at: number, summary: Summary | null): Promise<void> {
    const { soundings, thresholds } = this.context;
    const worth = worthTelling(soundings, thresholds, { at, seen });
    if (worth === 'nothing') return;
    const pods = worth === 'pods' ? await this.podsNow(summary ?? (await this.usage.summary())) : null;
    this.take({ type: 'eviction.sounded', at, seen, pods });
  }

  /** What pods take now, as far as it has changed. */
  private async podsNow(summary: Summary): Promise<PodsMeasured> {
    const { pods, stateOf, spare } = this.ground;
    const uses = usesOf(activePods(pods(), stateOf), summary);
    return { ...podsToTell(this.context.soundings.pods, uses), spare: await spare() };
  }

  private lookAtVictims(): void {
    const { stateOf } = this.ground;
    const at = this.now();
    for (const { uid, killed } of this.context.victims) {
      const state = stateOf(uid);
      if (isCleanedUp(state)) this.take({ type: 'eviction.cleaned', at, uid });
      else if (!killed && hasEnded(state ?? '')) this.take({ type: 'eviction.killed', at, uid });
    }
    const { deadline } = this.context;
    if (deadline !== null && deadline <= at) this.take({ type: 'timer', at });
  }

  /** Tells the machine, and what it asks for, until it asks for nothing more. */
  private async tell(message: EvictionMessage): Promise<void> {
    for (let asked = this.take(message); asked !== null && !this.stopped;) asked = await this.pursue(asked);
  }

  /**
   * Has an order carried out and answered; returns the next one that wants an answer. However long that takes, the node is looked at as ever
   * meanwhile: memory waits for no disk. What the machine has no use for any more goes on, and its answer is not heard.
   */
  private async pursue(order: AskingOrder): Promise<AskingOrder | null> {
    const heard = { no: false };
    const answer = this.answer(order, { clock: this.ground.clock, isUrgent: () => this.stopped || heard.no });
    for (;;) {
      const message = await this.meanwhile.until(answer);
      if (this.stopped) return null;
      if (message !== null) return this.take(message);
      const other = await this.lookMeanwhile();
      heard.no = other !== null || !roundWaits(this.context);
      if (heard.no) return other;
    }
  }

  private async lookMeanwhile(): Promise<AskingOrder | null> {
    this.again = false;
    const seen = await this.seenAgain();
    if (seen === null || this.stopped) return null;
    this.watch.arm(memoryLeft(this.context.thresholds, seen));
    return this.take({ type: 'eviction.looked', at: this.now(), seen, offenders: [] });
  }

  /** Has the machine take a message and carries out its orders; returns the one that wants an answer. */
  private take(message: EvictionMessage): AskingOrder | null {
    let asked: AskingOrder | null = null;
    this.host.handle(message, this.ground.log, (order) => {
      if (order.type === 'node.reclaim' || order.type === 'pods.measure') asked = order;
      else carryOut(this.ground, order, message.at);
    });
    return asked;
  }

  private async answer(order: AskingOrder, waiting: Waiting): Promise<EvictionMessage> {
    if (order.type === 'pods.measure') {
      const candidates = await this.measure(order.signal, waiting);
      return { type: 'eviction.measured', at: this.now(), candidates };
    }
    const failures: string[] = [];
    for (const what of order.what) {
      await this.ground.reclaim(what).catch((error: unknown) => {
        failures.push(messageOf(error));
      });
    }
    const first = await this.seenAgain();
    const seen = this.freeing ? await this.seenWhenFreed(first, waiting) : first;
    return { type: 'eviction.reclaimed', at: this.now(), failures, seen };
  }

  private seenWhenFreed(first: Observations | null, waiting: Waiting): Promise<Observations | null> {
    const isShort = (seen: Observations): boolean => thresholdsMet(this.context.thresholds, seen, true).length > 0;
    return seenOnceFreed(first, isShort, () => this.seenAgain(), waiting);
  }

  private async seenAgain(): Promise<Observations | null> {
    try {
      return observe((await this.usage.nodeAlone()) as NodeFigures);
    } catch (err) {
      this.ground.log.error({ err }, 'Eviction manager: failed to get summary stats after resource reclaim');
      return null;
    }
  }

  /** Null when the pods' figures cannot be had. */
  private async measure(signal: Signal, waiting: Waiting): Promise<Candidate[] | null> {
    const { pods, stateOf, log } = this.ground;
    const { disks } = this.context;
    try {
      if (disks === null) return null;
      const isDisk = pressureOf(signal) === 'DiskPressure';
      // What is told of volumes may be as old as the last one who asked.
      if (isDisk) await this.usage.volumesCounted?.();
      const layersCount = isDisk && partsOf(signal, disks).includes('root');
      const look = (): Promise<Summary> => this.usage.summary();
      const since = this.context.round?.at ?? 0;
      const summary = await (layersCount ? summaryWithLayersSince(since, look, waiting) : look());
      const seen = observe(summary.node as NodeFigures);
      const measured = await this.podsNow(summary);
      this.take({ type: 'eviction.sounded', at: this.now(), seen, pods: measured });
      return candidatesOf(activePods(pods(), stateOf), summary, signal, disks);
    } catch (err) {
      log.error({ err }, 'Eviction manager: failed to get summary stats');
      return null;
    }
  }
}

/**
 * The eviction manager (kubelet's pkg/kubelet/eviction): ends pods before the node runs short of memory, disk or process ids, and
 * those that take more of its disk than they may. Does nothing where nothing can be measured.
 */
export function evictionManager(ground: EvictionGround) {
  const { usage, config } = ground;
  const idle = config.localStorageCapacityIsolation ? false : thresholdsOf(ground).length === 0;
  if (usage === null || idle) return { name: 'eviction' };
  const manager = new Eviction(ground, usage);
  return {
    name: 'eviction',
    start: () => manager.start(),
    stop: () => manager.stop(),
    pressure: () => manager.pressure(),
    refuses: (pod: Pod) => manager.refuses(pod),
  };
}

/** Where allocatable ignores what eviction keeps free, all pods together have no threshold of their own either (kubelet NewMainKubelet). */
export function thresholdsOf({
  config,
  allocatableIgnoresEviction,
}: Pick<EvictionGround, 'config' | 'allocatableIgnoresEviction'>): Threshold[] {
  return parseThresholds(config, allocatableIgnoresEviction);
}
