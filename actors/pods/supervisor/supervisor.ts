import type { Logger } from 'pino';
import type { Pod, PodStatus } from '../../../machines/protocol/api-types.ts';
import type { ObservedPod } from '../../../machines/protocol/observed.ts';
import { isTerminalPhase } from '../../../machines/status/phase.ts';
import { STATUS_LISTS } from '../../../machines/status/status-lists.ts';
import { CURRENT } from '../../../machines/protocol/behaviour.ts';
import type { PodMemory } from '../../../machines/protocol/memory.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type {
  SupervisorContext,
  SupervisorMessage,
  SupervisorOrder,
} from '../../../machines/supervisor/supervisor-context.ts';
import { trackedPod, trackedPods } from '../../../machines/supervisor/pod-table.ts';
import type { Hosted } from '../../record/host/machine-host.ts';
import { MachineHost } from '../../record/host/machine-host.ts';
import { MachineJournal } from '../../record/journal/machine-journal.ts';
import type { JournalSettings } from '../../record/journal/machine-journal.ts';
import type { SupervisorSnapshot } from '../../record/machines/supervisor.ts';
import { bornSupervisor, supervisor } from '../../record/machines/supervisor.ts';
import type { RuntimeState } from '../../runtime/runtime-state/runtime-watch.ts';
import type { PodStore } from '../store/pod-store.ts';

/** What the supervisor needs of the node around it. */
export interface SupervisorOptions {
  shards: number;
  log: Logger;
  now: () => number;
  store: PodStore;
  runtimeState: () => Pick<RuntimeState, 'runtimeReady' | 'networkReady'>;
  /** The runtime holds something of this pod, as the last list says: it must be looked at before its actor starts. */
  held?: (uid: string) => boolean;
  /** Asks for a look at the pod. */
  observe?: (uid: string) => void;
  /** What an earlier agent remembered of a pod. */
  remembered: (uid: string) => PodMemory | null;
  post: (shard: number, uid: string, message: PodMessage) => void;
  /** Where messages are journaled; absent with `--no-journal`. */
  journal?: JournalSettings;
}

/**
 * Hosts the supervisor machine: stamps messages with the time, and adds to its orders what the caches hold
 * (the runtime's view, the memory of a pod).
 */
export class Supervisor {
  private readonly options: SupervisorOptions;
  private readonly journal: MachineJournal<SupervisorSnapshot, SupervisorMessage, SupervisorOrder> | null;
  private readonly host: MachineHost<SupervisorSnapshot, SupervisorMessage, SupervisorOrder>;
  private readonly hosted: Hosted<SupervisorSnapshot>;
  /** Last look at each pod of the runtime (pod cache, C7). */
  private readonly cache = new Map<string, ObservedPod>();
  /** Pods that have finished and that an earlier agent remembered something of, which is over, too. */
  private readonly forgotten = new Set<string>();
  /** Pods that were not looked at yet, with what they are to be told once they are: start comes first. */
  private readonly unseen = new Map<string, SupervisorOrder[]>();
  /**
   * Pods whose worker died, and when it was replaced (ms since the epoch), or that come back and when they had ended: what
   * was done last may not be in the cache, so they are looked at anew.
   */
  private readonly stale = new Map<string, number>();

  constructor(options: SupervisorOptions) {
    this.options = options;
    const { shards, journal } = options;
    this.hosted = { key: '', state: bornSupervisor({ shards, ...CURRENT }) };
    this.journal = journal === undefined ? null : new MachineJournal(supervisor, journal, {}, () => [this.hosted]);
    this.host = new MachineHost(supervisor, this.journal);
  }

  get context(): SupervisorContext {
    return this.hosted.state.context;
  }

  /** Bytes written to the journal so far. */
  get journalBytes(): number {
    return this.journal?.totalBytes ?? 0;
  }

  /** Is there an actor (or a place in the queue) for this pod? */
  tracks(uid: string): boolean {
    return trackedPod(this.context.pods, uid) !== undefined;
  }

  /** Handles one message. */
  take(message: SupervisorMessage): void {
    if (message.type === 'seen' && this.isOfTheFuture(message)) return;
    if (message.type === 'seen') {
      this.remember(message.observed);
      if (!this.isOfBefore(message)) this.seenAtLast(message.observed.uid);
    }
    if (message.type === 'shardReplaced') {
      for (const { uid, shard } of this.started()) if (shard === message.shard) this.stale.set(uid, message.at);
    }
    // A look at a pod that has an actor changes nothing here; the shard journals it.
    const unrecorded = message.type === 'seen' && this.tracks(message.observed.uid);
    const orders = unrecorded ? this.host.takeUnrecorded(this.hosted, message) : this.host.take(this.hosted, message);
    for (const order of orders) {
      this.carryOut(order);
      if (order.type !== 'forget') continue;
      const again = orders.some(({ type, uid }) => type === 'start' && uid === order.uid);
      // It may have left what was dead of it. Its next life must know that, and the last look may be from before its end;
      // when there is to be none after all, it has to go.
      if (order.remains === true && again) this.stale.set(order.uid, message.at);
      else if (order.remains === true) this.options.observe?.(order.uid);
      else if (message.type === 'config') this.lookForRemains(order.uid);
    }
    if (message.type === 'sourcesReady') this.judgeCached();
  }

  /**
   * The clock was set back after this look: by its time it would be newer than all that is done from now on, and what is
   * made would seem to have vanished. The pod is looked at again.
   */
  private isOfTheFuture({ at, observed }: Extract<SupervisorMessage, { type: 'seen' }>): boolean {
    if (observed.at <= at || this.options.observe === undefined) return false;
    this.options.observe(observed.uid);
    return true;
  }

  /**
   * This look began while the worker that died may still have been at work: an actor that started with it would make
   * what is there a second time. The pod is looked at again.
   */
  private isOfBefore({ at, observed }: Extract<SupervisorMessage, { type: 'seen' }>): boolean {
    const replaced = this.stale.get(observed.uid);
    if (replaced === undefined || this.options.observe === undefined) return false;
    // The clock may have been set back since.
    const since = Math.min(replaced, at);
    this.stale.set(observed.uid, since);
    if (observed.at >= since) return false;
    this.options.observe(observed.uid);
    return true;
  }

  /** Closes the journal; nothing must be taken afterwards. */
  close(): void {
    this.journal?.close();
  }

  /** Tells every living pod actor. */
  broadcast(message: PodMessage): void {
    for (const { uid } of this.started()) this.tell(uid, message);
  }

  /** Tells one living pod actor. */
  tell(uid: string, message: PodMessage): void {
    const tracked = trackedPod(this.context.pods, uid);
    // A pod that waits to be seen is told the time's facts by its start; only orders are kept for it.
    if (tracked?.phase === 'started' && !this.unseen.has(uid)) this.options.post(tracked.shard, uid, message);
  }

  /** UIDs of living pod actors with their shards. */
  started(): { uid: string; shard: number }[] {
    return trackedPods(this.context.pods).filter((p) => p.phase === 'started');
  }

  private remember(observed: ObservedPod): void {
    if (observed.sandboxes.length === 0 && observed.containers.length === 0) this.cache.delete(observed.uid);
    else this.cache.set(observed.uid, observed);
  }

  /** Pods that were seen before the sources had all spoken may turn out to be orphans now. */
  private judgeCached(): void {
    for (const observed of [...this.cache.values()]) {
      if (!this.tracks(observed.uid)) this.take({ type: 'seen', at: this.options.now(), observed });
    }
  }

  /** An actor that started without what the runtime holds of its pod would make everything a second time. */
  private waitsToBeSeen(order: SupervisorOrder): boolean {
    const { uid } = order;
    const kept = this.unseen.get(uid);
    if (order.type === 'forget') {
      this.unseen.delete(uid);
      this.stale.delete(uid);
      return false;
    }
    if (kept !== undefined && order.type !== 'start') {
      kept.push(order);
      return true;
    }
    if (order.type !== 'start') return false;
    const known = !this.stale.has(uid) && (this.cache.has(uid) || this.options.held?.(uid) !== true);
    if (kept === undefined && (known || this.options.observe === undefined)) return false;
    this.options.store.set(order.pod);
    this.unseen.set(uid, [order]);
    this.options.observe?.(uid);
    return true;
  }

  /**
   * A pod that its source gave up while it waited for another of its name never had an actor: what an earlier agent left
   * of it in the runtime does not change any more, so no relist would name it (kubelet HandlePodCleanups looks each 2 s).
   */
  private lookForRemains(uid: string): void {
    if (this.options.held?.(uid) === true) this.options.observe?.(uid);
  }

  private seenAtLast(uid: string): void {
    this.stale.delete(uid);
    const kept = this.unseen.get(uid);
    if (kept === undefined) return;
    this.unseen.delete(uid);
    for (const order of kept) this.post(order);
  }

  private carryOut(order: SupervisorOrder): void {
    if (!this.waitsToBeSeen(order)) this.post(order);
  }

  private post(order: SupervisorOrder): void {
    const { store, post, now } = this.options;
    switch (order.type) {
      case 'start': {
        store.set(order.pod);
        const { runtimeReady, networkReady } = this.options.runtimeState();
        const told = store.reportOf(order.uid);
        const memory = told?.memory ?? (this.forgotten.has(order.uid) ? null : this.options.remembered(order.uid));
        const observed = this.cache.get(order.uid) ?? null;
        post(order.shard, order.uid, {
          type: 'pod.start',
          at: now(),
          pod: withWhatWasTold(order.pod, told?.status),
          source: order.source,
          observed,
          memory,
          runtimeReady,
          networkReady,
          ...(order.rejection !== undefined && { rejection: order.rejection }),
        });
        break;
      }
      case 'tell':
        if (order.message.type === 'pod.update') store.set(order.message.pod);
        post(order.shard, order.uid, { ...order.message, at: now() } as PodMessage);
        break;
      case 'forget':
        // A pod that comes back under this UID is another one: nothing of the old one may stick to it.
        store.delete(order.uid);
        this.cache.delete(order.uid);
        // Only these: a set of all pods that ever were would grow for ever.
        if (this.options.remembered(order.uid) !== null) this.forgotten.add(order.uid);
        break;
    }
  }
}

/**
 * What a worker told before it died holds, though the pod that was given to it does not have it: a terminal phase is final,
 * and restart counts do not fall.
 */
function withWhatWasTold(pod: Pod, told: PodStatus | undefined): Pod {
  if (told === undefined) return pod;
  const status: PodStatus = { ...pod.status };
  if (isTerminalPhase(told.phase)) status.phase = told.phase;
  for (const list of STATUS_LISTS) if (told[list] !== undefined) status[list] = told[list];
  return { ...pod, status };
}
