import type { Logger } from 'pino';
import type { Victim } from '../../../machines/admission/admission-messages.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import { PREEMPTED, PREEMPTING } from '../../../machines/status/node-endings.ts';
import type { PodEventReport, PodReport } from '../../pods/shard/shard-protocol.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import { hasEnded } from '../eviction/active-pods.ts';

/** Least time that the end of a pod is waited for, ms (kubelet killPodNow). */
const LEAST_WAIT_MS = 10_000;

/** What is needed to end pods. */
export interface MakeRoomOptions {
  log: Logger;
  now: () => number;
  metrics: Pick<Metrics, 'preemptions'>;
  record: (event: PodEventReport) => void;
  /** To a pod's actor. */
  tell: (uid: string, message: PodMessage) => void;
}

/** Ends pods so that a critical one gets in, as kubelet's preemption does: one after the other, each waited for. */
export class MakeRoom {
  private readonly options: MakeRoomOptions;
  private readonly waiting = new Map<string, () => void>();

  constructor(options: MakeRoomOptions) {
    this.options = options;
  }

  /**
   * Ends them. One that does not end in time is told of and left; the critical pod comes all the same.
   *
   * @param signal the resource that is short, first of several
   */
  async preempt(victims: readonly Victim[], signal: string, requesting: string): Promise<void> {
    const { log, now, metrics, record, tell } = this.options;
    for (const victim of victims) {
      const { uid, namespace, name } = victim;
      const pod = `${namespace}/${name}`;
      const warn = (reason: string, message: string): void =>
        record({ uid, namespace, name, at: now(), type: 'Warning', reason, message });
      warn(PREEMPTING, PREEMPTED);
      log.info({ pod, podUID: uid, signal, requestingPod: requesting, v: 2 }, 'Preempting pod to free up resources');
      const ended = this.end(uid, Math.max(LEAST_WAIT_MS, victim.graceSeconds * 1_500));
      tell(uid, {
        ...{ type: 'pod.terminate', at: now() },
        order: { reason: PREEMPTING, message: PREEMPTED, disruption: true },
      });
      if (await ended) {
        metrics.preemptions.inc({ preemption_signal: signal });
        log.info({ pod, podUID: uid }, 'Pod evicted successfully');
        continue;
      }
      warn('ExceededGracePeriod', 'Container runtime did not kill the pod within specified grace period.');
      log.error({ pod, podUID: uid, problem: 'timeout waiting to kill pod' }, 'Failed to evict pod');
    }
  }

  /** A pod's actor told how it stands. */
  reported({ uid, state }: Pick<PodReport, 'uid' | 'state'>): void {
    if (hasEnded(state)) this.waiting.get(uid)?.();
  }

  /** Nothing is known of the pod any more. */
  gone(uid: string): void {
    this.waiting.get(uid)?.();
  }

  /** Whether it ends within so many ms. */
  private end(uid: string, ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (ended: boolean): void => {
        clearTimeout(timer);
        this.waiting.delete(uid);
        resolve(ended);
      };
      const timer = setTimeout(() => settle(false), ms);
      timer.unref();
      this.waiting.set(uid, () => settle(true));
    });
  }
}
