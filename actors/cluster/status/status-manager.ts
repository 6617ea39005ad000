import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { statusErrors } from '../../../machines/errors/status-errors.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodSource } from '../../../machines/protocol/messages.ts';
import { statusUrgency } from '../../../machines/status/status-urgency.ts';
import { lookEach, machineClock } from '../../host/time/clock.ts';
import type { Clock, Timer } from '../../host/time/clock.ts';
import type { ApiClient } from '../api/api-client.ts';
import type { PodReport } from '../../pods/shard/shard-protocol.ts';
import { ApiPods } from './api-pods.ts';
import type { ApiPod } from './api-pods.ts';
import { deleteNow, isGone, patchStatus } from './pod-requests.ts';
import { backOffMs, isServerTrouble, ServerPause, TOO_LONG_MS } from './server-pause.ts';
import { newStatusEntry, nextStep, noteShown, patchFor } from './status-entry.ts';
import type { NextStep, StatusEntry } from './status-entry.ts';
import { isMinor } from '../../../machines/status/status-patch.ts';

/** How long a status waits that says nothing yet, ms (see `statusUrgency`): longer than a quick start or end takes. */
const HOLD_MS = 300;
/** The same for an end, and once one such status was sent: many at once make each one long, and little is told, ms. */
const LONG_HOLD_MS = 2_000;
/** Requests under way for the whole node. */
const MAX_IN_FLIGHT = 16;
/** All pods are compared with the API's objects in memory (kubelet syncPeriod), ms. */
const RESYNC_MS = 10_000;
/** Back-off of one pod's requests, ms: the first is short, since the Node authorizer lags a binding by some ms. */
const RETRY_MS = 50;
const LONGEST_RETRY_MS = 10_000;
/** Time that requests under way have to end when the agent stops, ms. */
const STOP_MS = 1_000;

/** What the status manager works with. */
export interface StatusManagerOptions {
  api: ApiClient;
  nodeName: string;
  log: Logger;
  /** Ms since the epoch. */
  /** For its regular looks; the machine's, when it is not given. */
  clock?: Clock;
  now: () => number;
  metrics?: { podStatusSyncDuration: { observe(seconds: number): void } };
  /** Hears what the API server has of a pod after each patch. */
  onPatched?: (answer: Pod) => void;
  /** Hears of each failed request besides the log. */
  onError?: (error: ActorletError) => void;
}

/** A pod's newest report, and the pod as its machine was last given it. */
export interface ReportedPod {
  pod: Pod;
  source: PodSource;
  report: PodReport;
}

/**
 * Tells the API server the status of this node's pods (kubelet status manager): the newest one only, at most one
 * request for each pod at a time, none when the API shows the same already. A pod that is marked for deletion and
 * has ended and been cleaned up is removed.
 */
export class StatusManager {
  private readonly options: StatusManagerOptions;
  private readonly entries = new Map<string, StatusEntry>();
  private readonly apiPods = new ApiPods();
  /** Pods to look at, oldest first. */
  private readonly dirty = new Set<string>();
  private readonly pause = new ServerPause();
  private readonly stopping = new AbortController();
  private readonly running = new Set<Promise<void>>();
  private readonly resync: Timer;
  private timer: NodeJS.Timeout | undefined;
  private pumping = false;

  constructor(options: StatusManagerOptions) {
    this.options = options;
    this.resync = lookEach(options.clock ?? machineClock, RESYNC_MS, () => this.lookAtAll());
  }

  /** The whole list of this node's pods, mirror pods included, after a list; the server answers, so all is flushed. */
  setApiPods(pods: readonly Pod[]): void {
    this.apiPods.replace(pods);
    for (const uid of this.entries.keys()) this.dropForgotten(uid);
    this.serverBack();
  }

  /** A pod was added or changed (watch); an object that is older than what is known is ignored. */
  apiPod(pod: Pod): void {
    const taken = this.apiPods.take(pod);
    if (taken) this.look(taken.mirrorOf || taken.uid);
  }

  /** A pod has vanished from the API (watch): nothing is sent for it any more. */
  apiPodGone(uid: string): void {
    this.apiPods.remove(uid);
    this.dropForgotten(uid);
  }

  /** The API server answers again (a watch was opened, a lease renewed): what waits is sent now. */
  serverBack(): void {
    this.pause.over();
    for (const entry of this.entries.values()) entry.notBefore = 0;
    this.lookAtAll();
  }

  /** A pod's status, from its machine. */
  report({ pod, source, report }: ReportedPod): void {
    const at = this.options.now();
    const before = this.entries.get(report.uid);
    const entry: StatusEntry = before ?? newStatusEntry({ pod, source, report });
    Object.assign(entry, { pod, source, report, forgotten: false });
    if (entry.unsentSince === 0) entry.unsentSince = at;
    if (statusUrgency(report.status, report.state) === 'now') {
      entry.holdUntil = 0;
      entry.quietSent = false;
    } else if (entry.holdUntil === 0) {
      const long = entry.quietSent || report.state.startsWith('terminating.');
      entry.holdUntil = at + (long ? LONG_HOLD_MS : HOLD_MS);
    }
    this.entries.set(report.uid, entry);
    this.look(report.uid);
  }

  /** The pod's machine is gone. What the API must still hear, the final status and the DELETE, goes out regardless. */
  forget(uid: string): void {
    const entry = this.entries.get(uid);
    if (entry) entry.forgotten = true;
    this.dropForgotten(uid);
  }

  /** Sends nothing more; waits a moment for what is under way. */
  async stop(): Promise<void> {
    this.resync.cancel();
    clearTimeout(this.timer);
    this.entries.clear();
    this.dirty.clear();
    const late = setTimeout(() => this.stopping.abort(), STOP_MS);
    await Promise.all(this.running);
    clearTimeout(late);
    this.stopping.abort();
  }

  private dropForgotten(uid: string): void {
    const entry = this.entries.get(uid);
    if (!entry?.forgotten || (entry.source === 'api' && this.apiPods.own(uid))) return;
    this.entries.delete(uid);
    this.dirty.delete(uid);
  }

  private lookAtAll(): void {
    for (const uid of this.entries.keys()) this.dirty.add(uid);
    this.pumpSoon();
  }

  private look(uid: string): void {
    if (!this.entries.has(uid)) return;
    this.dirty.add(uid);
    this.pumpSoon();
  }

  /** Once for all messages of this turn of the event loop. */
  private pumpSoon(): void {
    if (this.pumping) return;
    this.pumping = true;
    queueMicrotask(() => {
      this.pumping = false;
      this.pump();
    });
  }

  /** Begins what is due, and wakes up for the next. */
  private pump(): void {
    clearTimeout(this.timer);
    const at = this.options.now();
    const atOnce = this.pause.away ? 1 : MAX_IN_FLIGHT;
    let wakeAt = Infinity;
    for (const uid of this.dirty) {
      if (this.running.size >= atOnce) return;
      const entry = this.entries.get(uid);
      if (entry?.inFlight) continue;
      const due = entry === undefined ? 0 : Math.max(entry.notBefore, entry.holdUntil, this.pause.until);
      if (due > at && due - at < TOO_LONG_MS) {
        wakeAt = Math.min(wakeAt, due);
        continue;
      }
      this.dirty.delete(uid);
      if (entry) this.begin(uid, entry, at);
    }
    if (wakeAt === Infinity) return;
    this.timer = setTimeout(() => this.pump(), wakeAt - at);
    this.timer.unref();
  }

  private begin(uid: string, entry: StatusEntry, at: number): void {
    entry.holdUntil = 0;
    const api = entry.source === 'api' ? this.apiPods.own(uid) : this.apiPods.mirror(uid);
    const step = api === undefined ? null : nextStep(entry, api, at);
    if (api === undefined || step === null) {
      if (api !== undefined) entry.unsentSince = 0;
      return;
    }
    // The end of a pod comes with a new generation: that alone can wait for what the end brings.
    if (step.do === 'patch' && !entry.patient && entry.report.state.startsWith('terminating.') && isMinor(step.patch)) {
      entry.patient = true;
      entry.holdUntil = at + LONG_HOLD_MS;
      this.look(uid);
      return;
    }
    entry.inFlight = true;
    const task = this.carryOut(uid, entry, api, step).finally(() => {
      entry.inFlight = false;
      this.running.delete(task);
      this.pumpSoon();
    });
    this.running.add(task);
  }

  private async carryOut(uid: string, entry: StatusEntry, api: ApiPod, step: NonNullable<NextStep>): Promise<void> {
    try {
      if (step.do === 'patch') await this.patch(entry, api, step);
      else await this.remove(entry, api);
      this.pause.over();
      entry.failures = 0;
      this.look(uid);
    } catch (error) {
      if (!this.stopping.signal.aborted) this.failed(uid, entry, api, step, error);
    }
  }

  private async patch(entry: StatusEntry, api: ApiPod, step: Extract<NextStep, { do: 'patch' }>): Promise<void> {
    const { log, metrics, now } = this.options;
    const name = `${api.namespace}/${api.name}`;
    if (step.refused.length > 0) {
      const params = { containers: step.refused.join(', '), pod: name };
      log.error({ err: new ActorletError(statusErrors.tookBack, params) }, 'Status of a pod');
    }
    const { unsentSince } = entry;
    const told = { pod: entry.pod, source: entry.source, report: entry.report };
    entry.unsentSince = 0;
    entry.patient = false;
    entry.quietSent = statusUrgency(entry.report.status, entry.report.state) === 'mayWait';
    let answer: Pod;
    try {
      answer = await patchStatus(this.options.api, api, step.patch, this.stopping.signal);
    } catch (error) {
      entry.unsentSince = unsentSince || now();
      throw error;
    }
    log.debug({ v: 3, pod: name, podUID: api.uid, patch: step.patch }, 'Patch status for pod');
    if (unsentSince > 0) metrics?.podStatusSyncDuration.observe((now() - unsentSince) / 1000);
    this.options.onPatched?.(answer);
    const answered = this.apiPods.takeAnswer(answer);
    // What the server did not take over now it will not take over the next time either.
    const left = answered && patchFor(told, answered, now());
    entry.moot = left ? JSON.stringify(left.patch) : '';
    if (answered && !left) noteShown(entry, told, answered);
  }

  private async remove(entry: StatusEntry, api: ApiPod): Promise<void> {
    await deleteNow(this.options.api, api, this.stopping.signal);
    entry.deleted = true;
    // With finalizers the object stays until others have taken theirs off; the watch tells.
    if (!api.hasFinalizers) this.apiPodGone(api.uid);
    this.options.log.debug(
      { v: 3, pod: `${api.namespace}/${api.name}`, podUID: api.uid },
      'Pod fully terminated and removed from etcd',
    );
  }

  private failed(uid: string, entry: StatusEntry, api: ApiPod, step: NonNullable<NextStep>, error: unknown): void {
    const { log, now, onError } = this.options;
    const pod = `${api.namespace}/${api.name}`;
    const wasAway = this.pause.away;
    if (isServerTrouble(error)) this.pause.failed(error, now());
    else {
      this.pause.over();
      entry.failures++;
      entry.notBefore = now() + backOffMs(entry.failures, RETRY_MS, LONGEST_RETRY_MS);
    }
    if (isGone(error)) {
      log.debug({ pod, podUID: api.uid }, 'Pod does not exist on the server');
      this.apiPodGone(api.uid);
      return;
    }
    const problem = error instanceof Error ? error.message : String(error);
    const spec = step.do === 'patch' ? statusErrors.patchFailed : statusErrors.deleteFailed;
    const err = new ActorletError(spec, { pod, problem }, { cause: error });
    // The first refusal is often a cache of the server that lags, and an outage is told once.
    const quiet = this.pause.away ? wasAway : entry.failures === 1;
    log[quiet ? 'debug' : 'warn']({ err }, 'Failed to update status for pod');
    onError?.(err);
    this.look(uid);
  }
}
