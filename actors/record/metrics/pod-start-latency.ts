import { isMirrorPod } from '../../../machines/mirror-pods/mirror-pod.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { Metrics } from './metrics-registry.ts';

/** One pod on its way; all times in ms since the epoch, 0 = not yet. */
interface Start {
  pullBegan: number;
  pullEnded: number;
  /** The API server took a status in which all containers run. */
  told: boolean;
  /** A watch showed all containers running for the first time. */
  shownAt: number;
  recorded: boolean;
}

/**
 * Measures `kubelet_pod_start_sli_duration_seconds` and `kubelet_pod_start_total_duration_seconds` as kubelet does (the
 * pod start-up SLI): from a pod's creation until a watch shows all its containers running, for pods that this agent
 * has started; the SLI leaves out the time from the first image pull's begin to the last one's end. No static pods.
 */
export class PodStartLatency {
  private readonly metrics: Pick<Metrics, 'podStartSliDuration' | 'podStartTotalDuration' | 'firstNetworkPodStart'>;
  private readonly now: () => number;
  private readonly starts = new Map<string, Start>();
  private networkSeen = false;

  constructor(
    metrics: Pick<Metrics, 'podStartSliDuration' | 'podStartTotalDuration' | 'firstNetworkPodStart'>,
    now: () => number,
  ) {
    this.metrics = metrics;
    this.now = now;
  }

  /** A pod as a list or a watch shows it; mirror pods are none to measure. */
  observed(pod: Pod): void {
    const uid = pod.metadata?.uid ?? '';
    const { phase, startTime } = pod.status ?? {};
    if (phase === 'Failed' || phase === 'Succeeded') {
      this.starts.delete(uid);
      return;
    }
    if (isMirrorPod(pod)) return;
    const start = this.starts.get(uid);
    if (start === undefined) {
      // One that another agent, or this one before, has begun is none to measure.
      if (startTime === undefined)
        this.starts.set(uid, { pullBegan: 0, pullEnded: 0, told: false, shownAt: 0, recorded: false });
      return;
    }
    if (start.shownAt === 0 && startTime !== undefined && allRun(pod)) start.shownAt = this.now();
    this.record(start, pod);
  }

  /** The API server took a status of this pod; `pod` is its answer, which may come after the watch has shown it. */
  statusUpdated(pod: Pod): void {
    const start = this.starts.get(pod.metadata?.uid ?? '');
    if (start === undefined || !allRun(pod)) return;
    start.told = true;
    this.record(start, pod);
  }

  /** A pull of an image for this pod begins. */
  pullBegan(uid: string): void {
    const start = this.starts.get(uid);
    if (start !== undefined && start.pullBegan === 0) start.pullBegan = this.now();
  }

  /** It has ended well. */
  pullEnded(uid: string): void {
    const start = this.starts.get(uid);
    if (start !== undefined && start.pullBegan !== 0) start.pullEnded = this.now();
  }

  /** The pod is gone. */
  forget(uid: string): void {
    this.starts.delete(uid);
  }

  private record(start: Start, pod: Pod): void {
    const created = Date.parse(pod.metadata?.creationTimestamp ?? '');
    if (start.recorded || !start.told || start.shownAt === 0 || Number.isNaN(created)) return;
    start.recorded = true;
    const total = (start.shownAt - created) / 1000;
    const sli = total - (start.pullEnded === 0 ? 0 : (start.pullEnded - start.pullBegan) / 1000);
    this.metrics.podStartSliDuration.observe(sli);
    this.metrics.podStartTotalDuration.observe(total);
    if (this.networkSeen || pod.spec?.hostNetwork === true) return;
    this.networkSeen = true;
    this.metrics.firstNetworkPodStart.set(sli);
  }
}

/** Each container runs, as the status tells it; one without a status counts for nothing (kubelet's hasPodStartedSLO). */
function allRun(pod: Pod): boolean {
  return (pod.status?.containerStatuses ?? []).every(({ state }) => state?.running?.startedAt !== undefined);
}
