import { initialTransition } from 'xstate';
import type { AnyMachineSnapshot } from 'xstate';
import type { Logger } from 'pino';
import { step } from '../../machines/machine-step/step.ts';
import type { ObservedPod } from '../../machines/protocol/observed.ts';
import type { PodMemory } from '../../machines/protocol/memory.ts';
import type { PodMessage } from '../../machines/protocol/messages.ts';
import type {
  SupervisorContext,
  SupervisorMessage,
  SupervisorOrder,
} from '../../machines/supervisor/supervisor-context.ts';
import { supervisorMachine } from '../../machines/supervisor/supervisor-machine.ts';
import type { RuntimeState } from '../runtime-state/runtime-watch.ts';
import type { PodStore } from '../status/pod-store.ts';

/** What the supervisor needs of the node around it. */
export interface SupervisorOptions {
  shards: number;
  log: Logger;
  now: () => number;
  store: PodStore;
  runtimeState: () => RuntimeState;
  /** What an earlier agent remembered of a pod. */
  remembered: (uid: string) => PodMemory | null;
  post: (shard: number, uid: string, message: PodMessage) => void;
}

/**
 * Hosts the supervisor machine: stamps messages with the time, and adds to its orders what the caches hold
 * (the runtime's view, the memory of a pod).
 */
export class Supervisor {
  private readonly options: SupervisorOptions;
  private snapshot: AnyMachineSnapshot;
  /** Last look at each pod of the runtime (pod cache, C7). */
  private readonly cache = new Map<string, ObservedPod>();

  constructor(options: SupervisorOptions) {
    this.options = options;
    this.snapshot = initialTransition(supervisorMachine, { shards: options.shards })[0] as AnyMachineSnapshot;
  }

  get context(): SupervisorContext {
    return this.snapshot.context as SupervisorContext;
  }

  /** Is there an actor (or a place in the queue) for this pod? */
  tracks(uid: string): boolean {
    return this.context.pods[uid] !== undefined;
  }

  /** Handles one message. */
  take(message: SupervisorMessage): void {
    if (message.type === 'seen') this.remember(message.observed);
    const { snapshot, effects } = step<AnyMachineSnapshot, SupervisorOrder>(supervisorMachine, this.snapshot, message);
    this.snapshot = snapshot;
    for (const order of effects) this.carryOut(order);
    if (message.type === 'sourcesReady') this.judgeCached();
  }

  /** Tells every living pod actor. */
  broadcast(message: PodMessage): void {
    for (const { uid, shard, phase } of Object.values(this.context.pods))
      if (phase === 'started') this.options.post(shard, uid, message);
  }

  /** Tells one living pod actor. */
  tell(uid: string, message: PodMessage): void {
    const tracked = this.context.pods[uid];
    if (tracked?.phase === 'started') this.options.post(tracked.shard, uid, message);
  }

  /** UIDs of living pod actors with their shards. */
  started(): { uid: string; shard: number }[] {
    return Object.values(this.context.pods).filter((p) => p.phase === 'started');
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

  private carryOut(order: SupervisorOrder): void {
    const { store, post, now } = this.options;
    switch (order.type) {
      case 'start': {
        store.set(order.pod);
        const { runtimeReady, networkReady } = this.options.runtimeState();
        const memory = store.reportOf(order.uid)?.memory ?? this.options.remembered(order.uid);
        const observed = this.cache.get(order.uid) ?? null;
        post(order.shard, order.uid, {
          type: 'pod.start',
          at: now(),
          pod: order.pod,
          source: order.source,
          observed,
          memory,
          runtimeReady,
          networkReady,
        });
        break;
      }
      case 'tell':
        if (order.message.type === 'pod.update') store.set(order.message.pod);
        post(order.shard, order.uid, { ...order.message, at: now() } as PodMessage);
        break;
      case 'forget':
        store.delete(order.uid);
        break;
    }
  }
}
