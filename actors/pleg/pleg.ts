import type { Logger } from 'pino';
import type { CriClient } from '../../cri/client/cri-client.ts';
import type { Container, PodSandbox } from '../../cri/generated/runtime/v1/api.ts';
import type { ObservedPod } from '../../machines/protocol/observed.ts';
import type { Metrics } from '../metrics/metrics-registry.ts';
import type { ListedPod } from './observe-pod.ts';
import { observePod } from './observe-pod.ts';
import { LABEL } from './observed-from-cri.ts';

/** Threshold after which a PLEG without a relist is unhealthy, ms (kubelet relistThreshold). */
const RELIST_THRESHOLD_MS = 180_000;

/** What PLEG is made from. */
export interface PlegOptions {
  cri: CriClient;
  /** Time between relists, ms: 1 s for the generic PLEG, 300 s beside events. */
  periodMs: number;
  log: Logger;
  metrics: Metrics;
  now: () => number;
  /** The runtime's view of a pod changed (or was asked for). */
  onPod: (observed: ObservedPod) => void;
  /** A relist is done: all pod UIDs that the runtime holds. */
  onRelist: (pods: ReadonlyMap<string, ListedPod>) => void;
}

/**
 * The one observer of the runtime (C6): lists sandboxes and containers, and looks closer only at pods whose
 * line in the list changed. Several requests for one pod are served by one look.
 */
export class Pleg {
  private readonly options: PlegOptions;
  private lines = new Map<string, string>();
  private listed = new Map<string, ListedPod>();
  private readonly looks = new Map<string, { again: boolean }>();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | null = null;
  private again = false;
  private stopped = false;
  private lastRelist = 0;
  private lastStart = 0;
  private periodMs: number;

  constructor(options: PlegOptions) {
    this.options = options;
    this.periodMs = options.periodMs;
  }

  /** First relist now, then one each period. Resolves when the first has been tried. */
  async start(): Promise<void> {
    await this.relist();
    this.schedule();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** Time between relists from now on, ms. */
  setPeriod(ms: number): void {
    if (ms === this.periodMs) return;
    this.periodMs = ms;
    clearTimeout(this.timer);
    this.schedule();
  }

  /** Asks for a fresh look at one pod. Requests that come while one is under way share one further look. */
  observe(uid: string): void {
    const under = this.looks.get(uid);
    if (under !== undefined) {
      under.again = true;
      return;
    }
    this.looks.set(uid, { again: false });
    void this.lookFresh(uid).finally(() => {
      const again = this.looks.get(uid)?.again ?? false;
      this.looks.delete(uid);
      if (again && !this.stopped) this.observe(uid);
    });
  }

  /** Asks for a fresh look at every pod, e.g. after the runtime came back. */
  observeAll(): void {
    this.lines.clear();
    void this.relist();
  }

  /** Error text when no relist has succeeded for three minutes, else null (healthz and node Ready). */
  unhealthy(): string | null {
    const age = this.options.now() - this.lastRelist;
    if (this.lastRelist === 0) return 'pleg has yet to be successful';
    if (age < RELIST_THRESHOLD_MS) return null;
    return `pleg was last seen active ${Math.round(age / 1000)}s ago; threshold is 3m0s`;
  }

  /** Runs one relist; calls made meanwhile share one further relist. */
  relist(): Promise<void> {
    if (this.running !== null) {
      this.again = true;
      return this.running;
    }
    this.running = this.relistOnce().finally(() => {
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
    this.timer = setTimeout(() => void this.relist().then(() => this.schedule()), this.periodMs);
  }

  private async relistOnce(): Promise<void> {
    const { cri, now, metrics, log } = this.options;
    const at = now();
    if (this.lastStart !== 0) metrics.plegRelistInterval.observe((at - this.lastStart) / 1000);
    this.lastStart = at;
    try {
      const [sandboxes, containers] = await Promise.all([
        cri.runtime.listPodSandbox({}),
        cri.runtime.listContainers({}),
      ]);
      const { pods, lines } = group(sandboxes.items, containers.containers);
      const changed: ListedPod[] = [];
      for (const [uid, pod] of pods) if (lines.get(uid) !== this.lines.get(uid)) changed.push(pod);
      for (const [uid, pod] of this.listed)
        if (!pods.has(uid)) changed.push({ ...pod, sandboxIds: [], containers: [] });
      this.listed = pods;
      this.lines = lines;
      this.options.onRelist(pods);
      await Promise.all(changed.map((pod) => this.look(pod, at)));
      this.lastRelist = now();
      metrics.plegLastSeen.set(this.lastRelist / 1000);
      countContainers(metrics, sandboxes.items, containers.containers);
    } catch (error) {
      log.debug({ err: error }, 'GenericPLEG: Unable to retrieve pods');
    }
    metrics.plegRelistDuration.observe((now() - at) / 1000);
  }

  /** Lists only this pod, by its label, and looks at it. */
  private async lookFresh(uid: string): Promise<void> {
    const { cri, now } = this.options;
    const at = now();
    const labelSelector = { [LABEL.podUid]: uid };
    try {
      const [sandboxes, containers] = await Promise.all([
        cri.runtime.listPodSandbox({ filter: { labelSelector } }),
        cri.runtime.listContainers({ filter: { labelSelector } }),
      ]);
      const { pods } = group(sandboxes.items, containers.containers);
      await this.look(pods.get(uid) ?? { uid, name: '', namespace: '', sandboxIds: [], containers: [] }, at);
    } catch (error) {
      this.lines.delete(uid);
      this.options.log.debug({ err: error, podUID: uid }, 'PLEG: could not list the pod');
    }
  }

  private async look(pod: ListedPod, at: number): Promise<void> {
    try {
      this.options.onPod(await observePod(this.options.cri, pod, at));
    } catch (error) {
      // Its line is forgotten, so that the next relist looks again.
      this.lines.delete(pod.uid);
      this.options.log.debug({ err: error, podUID: pod.uid }, 'PLEG: could not look at the pod');
    }
  }
}

/** Groups the two lists by pod; the line of a pod changes when anything that PLEG watches does. */
function group(sandboxes: readonly PodSandbox[], containers: readonly Container[]) {
  const pods = new Map<string, ListedPod>();
  const parts = new Map<string, string[]>();
  const podOf = (labels: Record<string, string>): ListedPod | null => {
    const uid = labels[LABEL.podUid];
    if (uid === undefined) return null;
    let pod = pods.get(uid);
    if (pod === undefined) {
      pod = {
        uid,
        name: labels[LABEL.podName] ?? '',
        namespace: labels[LABEL.podNamespace] ?? '',
        sandboxIds: [],
        containers: [],
      };
      pods.set(uid, pod);
      parts.set(uid, []);
    }
    return pod;
  };
  for (const s of sandboxes) {
    const pod = podOf(s.labels);
    pod?.sandboxIds.push(s.id);
    if (pod !== null) parts.get(pod.uid)?.push(`${s.id}:s${s.state}`);
  }
  for (const c of containers) {
    const pod = podOf(c.labels);
    pod?.containers.push({ id: c.id, sandboxId: c.podSandboxId });
    if (pod !== null) parts.get(pod.uid)?.push(`${c.id}:${c.state}`);
  }
  const lines = new Map<string, string>();
  for (const [uid, list] of parts) lines.set(uid, list.sort().join(' '));
  return { pods, lines };
}

const STATE_NAMES = ['created', 'running', 'exited', 'unknown'] as const;

function countContainers(metrics: Metrics, sandboxes: readonly PodSandbox[], containers: readonly Container[]): void {
  const counts = new Map<string, number>(STATE_NAMES.map((s) => [s, 0]));
  for (const c of containers) {
    const state = STATE_NAMES[c.state] ?? 'unknown';
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  for (const [state, n] of counts) metrics.runningContainers.set({ container_state: state }, n);
  metrics.runningPods.set(sandboxes.filter((s) => s.state === 0).length);
}
