import type { Logger } from 'pino';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import type { ObservedPod } from '../../../machines/protocol/observed.ts';
import { machineClock } from '../../host/time/clock.ts';
import type { Clock, Timer } from '../../host/time/clock.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import { groupByPod } from './group-by-pod.ts';
import type { ListedPod } from './observe-pod.ts';
import { observePod } from './observe-pod.ts';
import { LABEL } from '../../../machines/protocol/runtime-labels.ts';
import { EVENTED_RATE } from './relist-rate.ts';
import type { RelistRate } from './relist-rate.ts';
import { RuntimeCounts } from './runtime-counts.ts';
import { UnseenPods } from './unseen-pods.ts';

/** A list that takes longer is left to itself, and the next relist comes at its time all the same, ms. */
const SLOW_LIST_MS = 10_000;
/** Time until a relist or a look that failed is tried again, ms. */
const RETRY_MS = 1_000;
/** Looks at the same time: a runtime with thousands of changed pods is not asked about all of them at once. */
const MAX_LOOKS = 64;
/** A look that takes longer no longer counts against {@link MAX_LOOKS}: hung pods must not use up the places, ms. */
const SLOW_LOOK_MS = 2_000;

type Sandboxes = Parameters<typeof groupByPod>[0];
type Containers = Parameters<typeof groupByPod>[1];

/** What PLEG is made from. */
export interface PlegOptions {
  cri: CriClient;
  /** What containers are stopped by is looked at, too (feature gate ContainerStopSignals). */
  stopSignals?: boolean | undefined;
  /** How often to list at the beginning; {@link Pleg.setRate} changes it. */
  rate: RelistRate;
  log: Logger;
  metrics: Metrics;
  /** The machine's, when it is not given. */
  clock?: Clock;
  /** The runtime's view of a pod changed (or was asked for). */
  onPod: (observed: ObservedPod) => void;
  /** Looks at a pod that the list names fail one after the other; told again while that goes on. */
  onUnseen?: (uid: string, error: unknown) => void;
  /** A relist failed: the runtime does not answer. */
  onFailure?: () => void;
  /** A relist is done: all pods that the runtime holds, by UID. Looks at single pods keep the map right until the next. */
  onRelist: (pods: ReadonlyMap<string, ListedPod>) => void;
}

/**
 * The one observer of the runtime: lists sandboxes and containers, and looks closer only at pods whose
 * line in the list changed. Several requests for one pod are served by one look. No look waits for another:
 * a pod whose calls hang is seen late, and nobody else is.
 */
export class Pleg {
  private readonly options: PlegOptions;
  private lines = new Map<string, string>();
  private listed = new Map<string, ListedPod>();
  private readonly counts: RuntimeCounts;
  /** Looks that are under way or wait for a place. */
  private readonly looks = new Map<string, { again: boolean }>();
  private readonly queue: (() => void)[] = [];
  private readonly unseen = new UnseenPods();
  private places = MAX_LOOKS;
  private readonly clock: Clock;
  private timer: Timer | undefined;
  private running: Promise<void> | null = null;
  private again = false;
  private stopped = false;
  private lastRelist = 0;
  private lastStart = 0;
  /** Start of the relist that was last taken in (by the clock that nobody can set): an older one that comes late says nothing new. */
  private newest = 0;
  private rate: RelistRate;
  private failed = false;

  constructor(options: PlegOptions) {
    this.options = options;
    this.clock = options.clock ?? machineClock;
    this.rate = options.rate;
    this.counts = new RuntimeCounts(options.metrics);
  }

  /** First relist now, then one each period. Resolves when the first has been tried; looks go on. */
  async start(): Promise<void> {
    await this.relist();
    this.schedule();
  }

  /** Ends relists; calls under way are left to themselves. */
  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
    this.queue.length = 0;
  }

  /** How often to list from now on; the first one is now. */
  setRate(rate: RelistRate): void {
    if (rate.periodMs === this.rate.periodMs || this.stopped) return;
    this.rate = rate;
    this.timer?.cancel();
    // What happened between the last relist and now is not to wait for the next one.
    void this.relist().then(() => this.schedule());
  }

  /** Asks for a fresh look at one pod. Requests that come while one is under way share one further look. */
  observe(uid: string): void {
    this.lookOnce(uid, () => this.lookFresh(uid));
  }

  /** Asks for a fresh look at every pod, e.g. after the runtime came back. */
  observeAll(): void {
    this.lines.clear();
    void this.relist();
  }

  /** The last look named this pod: the runtime holds something of it. Before the first list it may hold something of any. */
  holds(uid: string): boolean {
    return this.lastRelist === 0 || this.listed.has(uid);
  }

  /** Error text when no relist has succeeded for longer than the threshold, else null (node Ready). */
  unhealthy(): string | null {
    const age = this.clock.looking() - this.lastRelist;
    if (this.lastRelist === 0) return 'pleg has yet to be successful';
    const { thresholdMs } = this.rate;
    if (age <= thresholdMs) return null;
    return `pleg was last seen active ${Math.round(age / 1000)}s ago; threshold is ${thresholdMs / 60_000}m0s`;
  }

  /** Runs one relist; calls made meanwhile share one further relist. One that hangs is not waited for. */
  relist(): Promise<void> {
    if (this.running !== null) {
      this.again = true;
      return this.running;
    }
    this.running = settledWithin(this.relistOnce(), SLOW_LIST_MS).finally(() => {
      this.running = null;
      if (this.again && !this.stopped) {
        this.again = false;
        void this.relist();
      }
    });
    return this.running;
  }

  private schedule(): void {
    if (this.stopped) return;
    this.timer?.cancel();
    const wait = this.failed ? Math.min(this.rate.periodMs, RETRY_MS) : this.rate.periodMs;
    const relist = () => void this.relist().then(() => this.schedule());
    // A rare list may be the first to see what no event told.
    if (this.rate !== EVENTED_RATE) this.timer = this.clock.lookAfter(wait, relist);
    else {
      const timer = setTimeout(relist, wait);
      this.timer = { cancel: () => clearTimeout(timer) };
    }
  }

  private async relistOnce(): Promise<void> {
    const { cri, metrics, log } = this.options;
    const at = this.clock.now();
    const began = this.clock.steady();
    if (this.lastStart !== 0) metrics.plegRelistInterval.observe((began - this.lastStart) / 1000);
    this.lastStart = began;
    try {
      const [sandboxes, containers] = await Promise.all([
        cri.runtime.listPodSandbox({}),
        cri.runtime.listContainers({}),
      ]);
      if (this.stopped || began < this.newest) return;
      this.newest = began;
      this.takeList(sandboxes.items, containers.containers, at);
      this.failed = false;
      this.lastRelist = this.clock.looking();
      metrics.plegLastSeen.set(this.clock.now() / 1000);
    } catch (error) {
      this.failed = true;
      log.debug({ err: error }, 'GenericPLEG: Unable to retrieve pods');
      this.options.onFailure?.();
    }
    metrics.plegRelistDuration.observe((this.clock.steady() - began) / 1000);
  }

  private takeList(sandboxes: Sandboxes, containers: Containers, at: number): void {
    const { pods, lines, counts } = groupByPod(sandboxes, containers);
    this.counts.setAll(counts);
    const before = { listed: this.listed, lines: this.lines };
    this.listed = pods;
    this.lines = lines;
    this.options.onRelist(pods);
    for (const [uid, pod] of pods) {
      if (lines.get(uid) !== before.lines.get(uid)) this.lookOnce(uid, () => this.look(pod, at));
    }
    for (const [uid, pod] of before.listed) {
      if (!pods.has(uid)) this.lookOnce(uid, () => this.look({ ...pod, sandboxIds: [], containers: [] }, at));
    }
  }

  /** One look at a pod at a time; what is asked for meanwhile is one further, fresh look. */
  private lookOnce(uid: string, look: () => Promise<void>): void {
    const under = this.looks.get(uid);
    if (under !== undefined) {
      under.again = true;
      return;
    }
    this.looks.set(uid, { again: false });
    const begin = (): void => {
      void this.inPlace(look).finally(() => {
        const again = this.looks.get(uid)?.again ?? false;
        this.looks.delete(uid);
        if (again && !this.stopped) this.observe(uid);
      });
    };
    if (this.places > 0) begin();
    else this.queue.push(begin);
  }

  /** Takes a place for the look, at most {@link SLOW_LOOK_MS} long. */
  private async inPlace(look: () => Promise<void>): Promise<void> {
    this.places--;
    let held = true;
    const giveUp = (): void => {
      if (!held) return;
      held = false;
      this.places++;
      this.queue.shift()?.();
    };
    const slow = setTimeout(giveUp, SLOW_LOOK_MS);
    try {
      await look();
    } finally {
      clearTimeout(slow);
      giveUp();
    }
  }

  /** Lists only this pod, by its label, and looks at it. */
  private async lookFresh(uid: string): Promise<void> {
    const { cri } = this.options;
    const at = this.clock.now();
    const began = this.clock.steady();
    const labelSelector = { [LABEL.podUid]: uid };
    try {
      const [sandboxes, containers] = await Promise.all([
        cri.runtime.listPodSandbox({ filter: { labelSelector } }),
        cri.runtime.listContainers({ filter: { labelSelector } }),
      ]);
      const { pods, counts } = groupByPod(sandboxes.items, containers.containers);
      const pod = pods.get(uid);
      // A list that was asked for later knows better what there is.
      if (began >= this.newest) {
        if (pod !== undefined) this.listed.set(uid, pod);
        else {
          this.listed.delete(uid);
          // With events the next list may be minutes away.
          this.lines.delete(uid);
        }
        this.counts.set(uid, counts.get(uid) ?? null);
      }
      await this.look(pod ?? { uid, name: '', namespace: '', sandboxIds: [], containers: [] }, at);
    } catch (error) {
      this.missed(uid);
      this.options.log.debug({ err: error, podUID: uid }, 'PLEG: could not list the pod');
    }
  }

  private async look(pod: ListedPod, at: number): Promise<void> {
    try {
      const { cri, stopSignals } = this.options;
      const observed = await observePod(cri, pod, at, stopSignals);
      this.unseen.seen(pod.uid);
      if (!this.stopped) this.options.onPod(observed);
    } catch (error) {
      this.missed(pod.uid);
      const tells = this.unseen.failed(pod.uid, this.clock.steady());
      if (tells && !this.stopped) this.options.onUnseen?.(pod.uid, error);
      this.options.log.debug({ err: error, podUID: pod.uid }, 'PLEG: could not look at the pod');
    }
  }

  /** A look failed: it is tried again, for relists may be rare, and do not name a pod that the runtime does not hold. */
  private missed(uid: string): void {
    this.lines.delete(uid);
    setTimeout(() => {
      if (!this.stopped) this.observe(uid);
    }, RETRY_MS).unref();
  }
}

/**
 * Settles as the work does, and after so many ms at the latest. With a plain timer: to abort a `sleep` of `node:timers/promises` makes an
 * error with its stack each time, which was a twelfth of what an idle node costs.
 */
function settledWithin(work: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(resolve, ms).unref();
    void work.finally(() => clearTimeout(late)).then(resolve, reject);
  });
}
