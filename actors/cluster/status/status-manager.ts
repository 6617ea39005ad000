import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { statusErrors } from '../../../machines/errors/status-errors.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { entryOf, NOTHING_TOLD } from '../../../machines/status-manager/status-entry.ts';
import type { StatusState } from '../../../machines/status-manager/status-entry.ts';
import { changesNothing, hasWaiting, isBusy, repeats } from '../../../machines/status-manager/status-machine.ts';
import type { StatusMessage, StatusOrder } from '../../../machines/status-manager/status-messages.ts';
import { statusUrgency } from '../../../machines/status/status-urgency.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { lookEach, machineClock } from '../../host/time/clock.ts';
import type { Clock, Timer } from '../../host/time/clock.ts';
import { spanClock } from '../../host/time/span-clock.ts';
import { SingleMachine } from '../../record/host/single-machine.ts';
import type { JournalSettings } from '../../record/journal/machine-journal.ts';
import { status as statusMachine } from '../../record/machines/status.ts';
import type { ApiClient } from '../api/api-client.ts';
import { ApiPods } from './api-pods.ts';
import { StatusRequests } from './status-requests.ts';
import { ToldPods } from './told-pods.ts';
import type { Compared, ReportedPod } from './told-pods.ts';

/** All pods are compared with the API's objects in memory (kubelet syncPeriod), ms. */
const RESYNC_MS = 10_000;
/** What the status manager works with. */
export interface StatusManagerOptions {
  api: ApiClient;
  nodeName: string;
  log: Logger;
  /** For its regular looks; the machine's, when it is not given. */
  clock?: Clock;
  /** Ms since the epoch. */
  now: () => number;
  metrics?: { podStatusSyncDuration: { observe(seconds: number): void } };
  /** Hears what the API server has of a pod after each patch. */
  onPatched?: (answer: Pod) => void;
  /** Hears of each failed request besides the log. */
  onError?: (error: ActorletError) => void;
  /** Where messages are journaled; absent with `--no-journal`. */
  journal?: JournalSettings;
}

/**
 * Tells the API server the status of this node's pods. What is sent when is decided by `machines/status-manager`; here statuses
 * are compared with the API's objects; requests: {@link StatusRequests}.
 */
export class StatusManager {
  private readonly options: StatusManagerOptions;
  private readonly machine: SingleMachine<StatusState, StatusMessage, StatusOrder>;
  private readonly apiPods = new ApiPods();
  private readonly told = new ToldPods(this.apiPods);
  /** What was compared in this turn. */
  private readonly compared = new Map<string, Compared>();
  private readonly requests: StatusRequests;
  private readonly resync: Timer;
  /** Of the machine's messages: it measures by them. */
  private readonly at: () => number;
  private timer: NodeJS.Timeout | undefined;
  private turning = false;
  /** Nothing is sent any more, whatever is told: a request would fail at once, and be asked for again without a pause. */
  private ended = false;

  constructor(options: StatusManagerOptions) {
    this.options = options;
    this.machine = new SingleMachine(statusMachine, NOTHING_TOLD, options.journal ?? null);
    const clock = options.clock ?? machineClock;
    this.at = spanClock(clock);
    this.requests = new StatusRequests({
      ...{ ...options, apiPods: this.apiPods, told: this.told, at: this.at },
      tell: (message) => this.take(message),
      over: (uid) => {
        this.look(uid);
        this.turnSoon();
      },
    });
    this.resync = lookEach(clock, RESYNC_MS, () => this.lookAtAll());
  }

  /** The whole list of this node's pods, mirror pods included, after a list; the server answers, so all is flushed. */
  setApiPods(pods: readonly Pod[]): void {
    this.apiPods.replace(pods);
    const { state } = this.machine;
    const gone = [...this.told.uids()].filter((uid) => {
      const entry = entryOf(state, uid);
      return entry?.forgotten === true && !(entry.ofApi && this.apiPods.own(uid));
    });
    this.take({ type: 'api.listed', at: this.at(), gone });
    this.lookAtAll();
  }

  /** A pod was added or changed (watch); an object that is older than what is known is ignored. */
  apiPod(pod: Pod): void {
    const taken = this.apiPods.take(pod);
    if (taken) this.look(taken.mirrorOf || taken.uid);
  }

  /** A pod has vanished from the API (watch): nothing is sent for it any more. */
  apiPodGone(uid: string): void {
    this.apiPods.remove(uid);
    if (entryOf(this.machine.state, uid)?.forgotten !== true) return;
    this.take({ type: 'api.gone', at: this.at(), uid });
  }

  /** A pod's status, from its machine. */
  report(reported: ReportedPod): void {
    if (this.ended) return;
    const { source, report } = reported;
    const { uid, status, state } = report;
    this.told.take(reported);
    const told = { uid, ofApi: source === 'api', state, urgency: statusUrgency(status, state) };
    if (this.saysNothing(told)) return;
    this.take({ type: 'status.told', at: this.at(), ...told });
    this.turnSoon();
  }

  /** What was told calls for nothing, and changes nothing that is known of the pod. */
  private saysNothing(told: Parameters<typeof repeats>[1] & { uid: string }): boolean {
    const { state } = this.machine;
    const entry = entryOf(state, told.uid);
    if (entry === undefined || !repeats(entry, told)) return false;
    if (entry.waits) return true;
    const finding = this.told.compare(told.uid, this.options.now())?.finding;
    // Without an object since when it was unsent counts.
    return finding !== undefined && finding.api !== null && changesNothing(state, finding);
  }

  /** The API server has what the pod told last, or no object of it. */
  isTold(uid: string): boolean {
    if (isBusy(this.machine.state, uid)) return false;
    const compared = this.told.compare(uid, this.options.now());
    return compared?.needed == null || changesNothing(this.machine.state, compared.finding);
  }

  /** A static pod's next life has its UID: how the last one ended must not be told of a mirror pod that is made for the next. */
  lifeEnded(uid: string): void {
    if (entryOf(this.machine.state, uid)?.ofApi === false) this.forget(uid);
  }

  /** The pod's machine is gone. What the API must still hear, the final status and the DELETE, goes out regardless. */
  forget(uid: string): void {
    if (!this.told.has(uid)) return;
    const shown = this.apiPods.own(uid) !== undefined;
    this.take({ type: 'pod.forget', at: this.at(), uid, shown });
  }

  /** Sends nothing more; waits a moment for what is under way. */
  async stop(): Promise<void> {
    this.ended = true;
    this.resync.cancel();
    clearTimeout(this.timer);
    this.take({ type: 'status.stop', at: this.at() });
    this.told.clear();
    await this.requests.stop();
    this.close();
  }

  /** Closes the journal without a word, as a death does. */
  close(): void {
    this.machine.close();
  }

  private lookAtAll(): void {
    for (const uid of this.told.uids()) this.look(uid);
    this.turnSoon();
  }

  /** Something that is compared may have changed. A pod that waits is compared when its turn comes. */
  private look(uid: string): void {
    if (this.ended) return;
    if (!isBusy(this.machine.state, uid)) {
      const at = this.at();
      const compared = this.told.compare(uid, this.options.now());
      if (compared === null || changesNothing(this.machine.state, compared.finding)) return;
      this.take({ type: 'status.look', at, uid });
    }
    this.turnSoon();
  }

  /** Once for all messages of this turn of the event loop. */
  private turnSoon(): void {
    if (this.turning || this.ended) return;
    this.turning = true;
    queueMicrotask(() => {
      this.turning = false;
      this.turn();
    });
  }

  private turn(): void {
    clearTimeout(this.timer);
    if (hasWaiting(this.machine.state)) this.take({ type: 'status.turn', at: this.at(), ...this.crowd() });
    this.compared.clear();
  }

  private crowd(): { crowded?: true } {
    return this.options.api.isCrowded?.() === true ? { crowded: true } : {};
  }

  private take(message: StatusMessage): void {
    let orders: StatusOrder[];
    try {
      orders = this.machine.take(message);
    } catch (error) {
      // The journal has it; the next look finds again what was to be told.
      const err = new ActorletError(statusErrors.stepFailed, { problem: messageOf(error) }, { cause: error });
      this.options.log.error({ err }, 'The status manager failed');
      return;
    }
    for (const order of orders)
      this.machine.carriedOut(order, this.options.log, (its) => this.carryOut(its, message.at));
  }

  private carryOut(order: StatusOrder, at: number): void {
    switch (order.type) {
      case 'status.compare': {
        const found = order.uids.flatMap((uid) => {
          const compared = this.told.compare(uid, this.options.now());
          if (compared === null) return [];
          this.compared.set(uid, compared);
          return [compared.finding];
        });
        this.take({ type: 'status.compared', at, found, ...this.crowd() });
        break;
      }
      case 'status.patch':
      case 'pod.delete':
        this.requests.begin(order, this.compared.get(order.uid));
        break;
      case 'status.wake':
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.turn(), order.at - at);
        this.timer.unref();
        break;
      case 'status.measure':
        this.options.metrics?.podStatusSyncDuration.observe(order.ms / 1000);
        break;
      case 'api.drop':
        this.apiPods.remove(this.requests.podOf(order.n));
        break;
      case 'status.complain':
        this.requests.complain(order.n, order.loud);
        break;
      case 'status.drop':
        this.told.delete(order.uid);
        break;
    }
  }
}
