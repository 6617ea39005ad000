import type { Logger } from 'pino';
import { ActorletError } from '../../machines/errors/define.ts';
import { nodeErrors } from '../../machines/errors/node-errors.ts';
import type { PodMemory } from '../../machines/protocol/memory.ts';
import { FAILED_SYNC, asideStatus } from '../../machines/status/aside-status.ts';
import { ASIDE } from '../../machines/supervisor/harm.ts';
import type { AsideHarm } from '../../machines/supervisor/harm.ts';
import type { Blame } from '../../machines/supervisor/supervisor-context.ts';
import type { TrackedPod } from '../../machines/supervisor/tracked-pod.ts';
import type { Clock, Timer } from '../host/time/clock.ts';
import type { WorkerDeath } from '../pods/shard/shard-pool.ts';
import type { FromShard } from '../pods/shard/shard-protocol.ts';
import type { PodStore } from '../pods/store/pod-store.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';

/** What is needed to tell of pods that are put aside. */
export interface AsidePodsOptions {
  clock: Clock;
  store: PodStore;
  log: Logger;
  metrics: Metrics;
  podOf: (uid: string) => TrackedPod | undefined;
  /** What an earlier agent remembered of a pod. */
  remembered: (uid: string) => PodMemory | null;
  /** As a worker would tell it. */
  tell: (shard: number, message: FromShard) => void;
  tryAgain: (uid: string, until: number) => void;
}

/**
 * Pods that the supervisor gave no actor for a while, since workers died on them: tells their status and event in the place of
 * their machine, and when their time has come.
 */
export class AsidePods {
  private readonly options: AsidePodsOptions;
  private readonly timers = new Map<string, Timer>();

  constructor(options: AsidePodsOptions) {
    this.options = options;
  }

  /** The pod is put aside, or the time of one that is has changed. */
  putAside(uid: string, harm: AsideHarm): void {
    const { clock, store, log, metrics, podOf, remembered, tell } = this.options;
    const before = this.timers.get(uid);
    before?.cancel();
    const wait = clock.lookAfter(Math.max(0, harm.until - clock.now()), () => {
      this.timers.delete(uid);
      this.options.tryAgain(uid, harm.until);
    });
    this.timers.set(uid, wait);
    const tracked = podOf(uid);
    if (tracked === undefined) return;
    const { pod, shard } = tracked;
    const { namespace = '', name = '' } = pod.metadata ?? {};
    const until = new Date(harm.until).toISOString();
    const words = { pod: `${namespace}/${name}`, until, deaths: harm.deaths, problem: harm.problem };
    const error = new ActorletError(nodeErrors.podPutAside, words);
    log.error({ err: error, podUID: uid }, 'Pod is put aside');
    const reported = store.reportOf(uid);
    const at = clock.now();
    const message = `error syncing pod, skipping: ${error.message}`;
    // One that is aside already has another time now, and no more.
    if (before === undefined) {
      metrics.podsPutAside.inc();
      const event = { uid, namespace, name, at, message, type: 'Warning', reason: FAILED_SYNC } as const;
      tell(shard, { t: 'event', event });
    }
    tell(shard, {
      t: 'report',
      report: {
        ...{ uid, state: ASIDE, why: error.message },
        status: asideStatus(pod, reported?.status, message, at),
        memory: reported?.memory ?? remembered(uid),
      },
    });
  }

  stop(): void {
    for (const timer of this.timers.values()) timer.cancel();
    this.timers.clear();
  }
}

/** Whom a worker died on. */
export function blameOf({ problem, wasAt }: WorkerDeath, started: readonly { uid: string }[]): Blame {
  return { uid: wasAt === null ? null : (started.find(({ uid }) => wasAt(uid))?.uid ?? null), problem };
}
