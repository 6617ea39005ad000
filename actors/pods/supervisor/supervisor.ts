import type { Logger } from 'pino';
import type { Pod, PodStatus } from '../../../machines/protocol/api-types.ts';
import type { ObservedPod } from '../../../machines/protocol/observed.ts';
import { networkProblemOf } from '../../../machines/node-object/ready-message.ts';
import { isTerminalPhase } from '../../../machines/status/phase.ts';
import { STATUS_LISTS } from '../../../machines/status/status-lists.ts';
import type { ActorletError } from '../../../machines/errors/define.ts';
import { CURRENT } from '../../../machines/protocol/behaviour.ts';
import type { PodGrants } from '../../../machines/protocol/grants.ts';
import type { PodHealth } from '../../../machines/protocol/resource-health.ts';
import type { PodMemory } from '../../../machines/protocol/memory.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { AsideHarm } from '../../../machines/supervisor/harm.ts';
import type {
  SupervisorContext,
  SupervisorMessage,
  SupervisorOrder,
} from '../../../machines/supervisor/supervisor-context.ts';
import { isAwaited, noLooks, waitsForLook } from '../../../machines/supervisor/looks.ts';
import type { LookMessage, LookOrder, Looks } from '../../../machines/supervisor/looks.ts';
import { trackedPod, trackedPods } from '../../../machines/supervisor/pod-table.ts';
import { atUid } from '../../../machines/supervisor/uid-table.ts';
import { SingleMachine } from '../../record/host/single-machine.ts';
import type { JournalSettings } from '../../record/journal/machine-journal.ts';
import type { SupervisorSnapshot } from '../../record/machines/supervisor.ts';
import { looks } from '../../record/machines/looks.ts';
import { bornSupervisor, supervisor } from '../../record/machines/supervisor.ts';
import type { RuntimeState } from '../../runtime/runtime-state/runtime-watch.ts';
import type { PodStore } from '../store/pod-store.ts';

type PodStart = Extract<PodMessage, { type: 'pod.start' }>;

/** Orders that go to a pod's actor, or end it. */
type ToActor = Exclude<SupervisorOrder, { type: 'aside' }>;

/** What the supervisor needs of the node around it. */
export interface SupervisorOptions {
  shards: number;
  log: Logger;
  now: () => number;
  store: PodStore;
  runtimeState: () => Pick<RuntimeState, 'runtimeReady' | 'networkReady'> & Partial<RuntimeState>;
  /** The runtime holds something of this pod, as the last list says: it must be looked at before its actor starts. */
  held?: (uid: string) => boolean;
  /** Asks for a look at the pod. */
  observe?: (uid: string) => void;
  /** What an earlier agent remembered of a pod. */
  remembered: (uid: string) => PodMemory | null;
  /** What an earlier agent told of a pod of the API whose phase was final then: the API server may not have heard of it. */
  endedAs?: (uid: string) => PodStatus | undefined;
  /** What a pod's containers have of the node's CPUs and memory; undefined where none is given away. */
  grantsOf?: (uid: string) => PodGrants | undefined;
  /** How the devices of a pod are; undefined where that is not told. */
  healthOf?: (uid: string) => PodHealth | undefined;
  /** The node's addresses by its object; undefined: those of the settings. */
  nodeIPs?: () => string[] | undefined;
  post: (shard: number, uid: string, message: PodMessage) => void;
  /** A pod has no actor for a while; whoever hears it sends `tryAgain` when the time has come. */
  onAside?: (uid: string, harm: AsideHarm) => void;
  /** Where messages are journaled; absent with `--no-journal`. */
  journal?: JournalSettings;
}

/**
 * Hosts the supervisor machine, and beside it the one that says which pods must be looked at first: stamps messages with the
 * time, and adds to the orders what the caches hold (the runtime's view, the memory of a pod).
 */
export class Supervisor {
  private readonly options: SupervisorOptions;
  private readonly machine: SingleMachine<SupervisorSnapshot, SupervisorMessage, SupervisorOrder>;
  /** Last look at each pod of the runtime (pod cache). */
  private readonly cache = new Map<string, ObservedPod>();
  /** Orders of pods that wait for a look: start comes first. */
  private readonly kept = new Map<string, ToActor[]>();
  private readonly looks: SingleMachine<Looks, LookMessage, LookOrder>;

  constructor(options: SupervisorOptions) {
    this.options = options;
    const { shards, journal } = options;
    this.machine = new SingleMachine(supervisor, bornSupervisor({ shards, ...CURRENT }), journal ?? null);
    this.looks = new SingleMachine(
      looks,
      noLooks(options.observe !== undefined),
      journal === undefined ? null : { ...journal, maxBytes: Math.floor(journal.maxBytes / 16) },
    );
  }

  get context(): SupervisorContext {
    return this.machine.state.context;
  }

  /** Bytes written to the journal so far. */
  get journalBytes(): number {
    return this.machine.journalBytes;
  }

  /** Is there an actor (or a place in the queue) for this pod? */
  tracks(uid: string): boolean {
    return trackedPod(this.context.pods, uid) !== undefined;
  }

  /**
   * Handles one message. Never throws.
   *
   * @returns why the machine did not take it, which is told in the log; null when it did
   */
  take(message: SupervisorMessage): ActorletError | null {
    const { log } = this.options;
    if (message.type === 'seen' && !this.lookCame(message)) return null;
    if (message.type === 'shardReplaced') {
      const lost = this.started().filter(({ shard }) => shard === message.shard);
      if (lost.length > 0) this.tellLooks({ type: 'look.lost', at: message.at, uids: lost.map(({ uid }) => uid) });
    }
    // A look at a pod that has an actor changes nothing here; the shard journals it.
    const unrecorded = message.type === 'seen' && this.tracks(message.observed.uid);
    const { orders, failure } = this.machine.attempt(message, log, unrecorded);
    for (const order of orders) this.machine.carriedOut(order, log, (its) => this.carryOut(its, orders, message));
    if (message.type === 'sourcesReady') this.judgeCached();
    return failure;
  }

  /** Takes a look in, and carries out what waited for it; false when it tells nothing of now. */
  private lookCame({ at, observed }: Extract<SupervisorMessage, { type: 'seen' }>): boolean {
    const { uid, at: began } = observed;
    const awaited = isAwaited(this.looks.state, uid, began, at);
    const orders = awaited ? this.looks.attempt({ type: 'look.came', at, uid, began }, this.options.log).orders : [];
    const dropped = orders.some(({ type }) => type === 'look.drop');
    if (!dropped) this.remember(observed);
    this.follow(orders);
    return !dropped;
  }

  /** Closes the journal; nothing must be taken afterwards. */
  close(): void {
    this.machine.close();
    this.looks.close();
  }

  /** Tells every living pod actor. */
  broadcast(message: PodMessage): void {
    for (const { uid } of this.started()) this.tell(uid, message);
  }

  /** Tells one living pod actor. */
  tell(uid: string, message: PodMessage): void {
    const tracked = trackedPod(this.context.pods, uid);
    // A pod that waits to be seen is told the time's facts by its start; only orders are kept for it.
    if (tracked?.phase === 'started' && !waitsForLook(this.looks.state, uid))
      this.options.post(tracked.shard, uid, message);
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

  private carryOut(order: SupervisorOrder, all: readonly SupervisorOrder[], { type, at }: SupervisorMessage): void {
    const { uid } = order;
    const { held } = this.options;
    switch (order.type) {
      case 'start':
        this.kept.set(uid, [order]);
        this.tellLooks({ type: 'look.start', at, uid, seen: this.cache.has(uid), held: held?.(uid) === true });
        break;
      case 'aside': {
        this.kept.delete(uid);
        const pod = trackedPod(this.context.pods, uid)?.pod;
        if (pod !== undefined) this.options.store.set(pod);
        this.options.onAside?.(uid, order.harm);
        break;
      }
      case 'tell':
        if (waitsForLook(this.looks.state, uid)) this.kept.get(uid)?.push(order);
        else this.post(order);
        break;
      case 'forget': {
        this.kept.delete(uid);
        this.post(order);
        const again = all.some((other) => other.type === 'start' && other.uid === uid);
        const after = { remains: order.remains === true, again, given: type === 'config', held: held?.(uid) === true };
        this.tellLooks({ type: 'look.forget', at, uid, ...after, remembered: this.options.remembered(uid) !== null });
        break;
      }
    }
  }

  private tellLooks(message: LookMessage): void {
    this.follow(this.looks.attempt(message, this.options.log).orders);
  }

  private follow(orders: readonly LookOrder[]): void {
    for (const order of orders) this.looks.carriedOut(order, this.options.log, (its) => this.followOne(its));
  }

  private followOne({ type, uid }: LookOrder): void {
    const kept = this.kept.get(uid) ?? [];
    if (type === 'pod.look') this.options.observe?.(uid);
    else if (type === 'orders.go') {
      this.kept.delete(uid);
      for (const order of asKnownNow(kept)) this.post(order);
    } else if (type === 'orders.keep') {
      for (const order of kept) if (order.type === 'start') this.options.store.set(order.pod);
    }
  }

  /** What a pod has been given by the time that it is judged. */
  private givenWith({
    uid,
    message,
  }: Extract<ToActor, { type: 'tell' }>): Partial<Pick<PodStart, 'grants' | 'health'>> {
    if (message.type !== 'pod.admit') return {};
    const [grants, health] = [this.options.grantsOf?.(uid), this.options.healthOf?.(uid)];
    return { ...(grants !== undefined && { grants }), ...(health !== undefined && { health }) };
  }

  private post(order: ToActor): void {
    const { store, post, now } = this.options;
    switch (order.type) {
      case 'start': {
        store.set(order.pod);
        const runtime = this.options.runtimeState();
        const { runtimeReady, networkReady } = runtime;
        const networkProblem = networkProblemOf(runtime);
        const told = store.reportOf(order.uid);
        const isOver = atUid(this.looks.state.over, order.uid);
        const memory = told?.memory ?? (isOver ? null : this.options.remembered(order.uid));
        const ended = order.source === 'api' && !isOver ? this.options.endedAs?.(order.uid) : undefined;
        const observed = this.cache.get(order.uid) ?? null;
        const grants = this.options.grantsOf?.(order.uid);
        const health = this.options.healthOf?.(order.uid);
        const nodeIPs = this.options.nodeIPs?.();
        post(order.shard, order.uid, {
          type: 'pod.start',
          at: now(),
          pod: withWhatWasTold(order.pod, told?.status ?? ended),
          source: order.source,
          observed,
          memory,
          runtimeReady,
          networkReady,
          ...(networkProblem !== undefined && { networkProblem }),
          ...(order.rejection !== undefined && { rejection: order.rejection }),
          ...(order.hold !== undefined && { hold: order.hold }),
          ...(grants !== undefined && { grants }),
          ...(health !== undefined && { health }),
          ...(nodeIPs !== undefined && { nodeIPs }),
        });
        break;
      }
      case 'tell':
        if (order.message.type === 'pod.update') store.set(order.message.pod);
        post(order.shard, order.uid, { ...order.message, at: now(), ...this.givenWith(order) } as PodMessage);
        break;
      case 'forget':
        // A pod that comes back under this UID is another one: nothing of the old one may stick to it.
        store.delete(order.uid);
        this.cache.delete(order.uid);
        break;
    }
  }
}

/**
 * What was kept until the runtime had said what it has of the pod: it starts as it is known by now, not as it was known then (kubelet's pod worker
 * takes the newest of the updates that waited).
 */
function asKnownNow(kept: readonly ToActor[]): ToActor[] {
  let latest: Pod | undefined;
  const rest = kept.filter((order) => {
    if (order.type !== 'tell' || order.message.type !== 'pod.update') return true;
    latest = order.message.pod;
    return false;
  });
  const pod = latest;
  return pod === undefined ? rest : rest.map((order) => (order.type === 'start' ? { ...order, pod } : order));
}

/**
 * What a worker told before it died, or an earlier agent of the pod's end, holds, though the pod that was given to it does not
 * have it: a terminal phase is final, and restart counts do not fall.
 */
function withWhatWasTold(pod: Pod, told: PodStatus | undefined): Pod {
  if (told === undefined) return pod;
  const status: PodStatus = { ...pod.status };
  if (isTerminalPhase(told.phase)) status.phase = told.phase;
  for (const list of STATUS_LISTS) if (told[list] !== undefined) status[list] = told[list];
  return { ...pod, status };
}
