import type { Metrics } from '../../record/metrics/metrics-registry.ts';

/** Container states by the number that CRI gives them. */
const STATE_NAMES = ['created', 'running', 'exited', 'unknown'] as const;

/** What the runtime holds of one pod, counted. */
export interface PodCounts {
  readySandboxes: number;
  /** Containers by state (CRI's number). */
  containers: readonly number[];
}

/**
 * Totals of all pods for `kubelet_running_pods` and `kubelet_running_containers`. They are kept pod by pod, because a
 * look at one pod changes them as well: beside a stream of events the next list of all may be minutes away.
 */
export class RuntimeCounts {
  private readonly metrics: Metrics;
  private pods = new Map<string, PodCounts>();
  private readonly totals = [0, 0, 0, 0];
  private ready = 0;

  constructor(metrics: Metrics) {
    this.metrics = metrics;
  }

  /** A list of all pods: what it does not name is gone. */
  setAll(pods: ReadonlyMap<string, PodCounts>): void {
    this.pods = new Map();
    this.totals.fill(0);
    this.ready = 0;
    for (const [uid, counts] of pods) this.add(uid, counts);
    this.publish();
  }

  /** One pod was looked at; null: the runtime holds nothing of it. */
  set(uid: string, counts: PodCounts | null): void {
    const before = this.pods.get(uid);
    if (before !== undefined) {
      this.ready -= before.readySandboxes;
      before.containers.forEach((n, state) => (this.totals[state] = (this.totals[state] ?? 0) - n));
      this.pods.delete(uid);
    }
    if (counts !== null) this.add(uid, counts);
    this.publish();
  }

  private add(uid: string, counts: PodCounts): void {
    this.pods.set(uid, counts);
    this.ready += counts.readySandboxes;
    counts.containers.forEach((n, state) => (this.totals[state] = (this.totals[state] ?? 0) + n));
  }

  private publish(): void {
    STATE_NAMES.forEach((name, state) =>
      this.metrics.runningContainers.set({ container_state: name }, this.totals[state] ?? 0),
    );
    this.metrics.runningPods.set(this.ready);
  }
}
