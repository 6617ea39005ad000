import type { Candidate } from '../../../machines/eviction/candidates.ts';
import type { PodFigures } from '../../../machines/eviction/pod-use.ts';
import { candidateOf } from '../../../machines/eviction/candidates.ts';
import type { Disks } from '../../../machines/eviction/container-fs-thresholds.ts';
import { initialEviction } from '../../../machines/eviction/eviction-context.ts';
import type {
  EvictionContext,
  EvictionMessage,
  EvictionOrder,
  EvictionSettings,
} from '../../../machines/eviction/eviction-context.ts';
import { evictionMachine } from '../../../machines/eviction/eviction-machine.ts';
import { offence } from '../../../machines/eviction/local-storage.ts';
import { isNews } from '../../../machines/eviction/look.ts';
import type { Observations } from '../../../machines/eviction/observations.ts';
import type { Reclaimable } from '../../../machines/eviction/reclaim-plan.ts';
import type { Signal } from '../../../machines/eviction/signals.ts';
import type { Threshold } from '../../../machines/eviction/thresholds.ts';
import { bornSnapshot, statePath, step } from '../../../machines/machine-step/step.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { parseBytes } from '../../../machines/values/quantity.ts';

export const MINUTE = 60_000;
const BEGIN = 1_700_000_000_000;

/** Bytes of a quantity. */
export const bytes = parseBytes;

export type Evicted = Extract<EvictionOrder, { type: 'pod.evict' }>;

/** A pod of one container `c`; `resources` as in `requests` and `limits`. */
export function makePod(
  name: string,
  over: {
    priority?: number;
    requests?: Record<string, string>;
    limits?: Record<string, string>;
    volumes?: NonNullable<Pod['spec']>['volumes'];
    grace?: number;
    annotations?: Record<string, string>;
  } = {},
): Pod {
  const { priority, requests, limits, volumes, grace, annotations } = over;
  return {
    metadata: { uid: `uid-${name}`, name, namespace: 'default', ...(annotations && { annotations }) },
    spec: {
      ...(priority !== undefined && { priority }),
      ...(grace !== undefined && { terminationGracePeriodSeconds: grace }),
      ...(volumes && { volumes }),
      containers: [{ name: 'c', resources: { ...(requests && { requests }), ...(limits && { limits }) } }],
    },
  };
}

/** Figures of such a pod; all as quantities. */
export function use(of: {
  memory?: string;
  root?: string;
  logs?: string;
  volume?: string;
  inodes?: boolean;
  pids?: number;
}): PodFigures {
  const amount = (text = '0') =>
    of.inodes === true ? { inodesUsed: bytes(text) } : { usedBytes: bytes(text), inodesUsed: 1 };
  const total = bytes(of.root ?? '0') + bytes(of.logs ?? '0') + bytes(of.volume ?? '0');
  return {
    containers: [
      {
        name: 'c',
        memory: { workingSetBytes: bytes(of.memory ?? '0') },
        rootfs: amount(of.root),
        logs: amount(of.logs),
      },
    ],
    memory: { workingSetBytes: bytes(of.memory ?? '0') },
    volume: [{ name: 'local', ...amount(of.volume) }],
    'ephemeral-storage': { usedBytes: total },
    ...(of.pids !== undefined && { process_stats: { process_count: of.pids } }),
  };
}

/** What is seen of memory. */
export function memory(available: string, at = 0, capacity = '4Gi'): Observations {
  return { 'memory.available': { available: bytes(available), capacity: bytes(capacity), at } };
}

/** A hard threshold. */
export const hard = (signal: Signal, quantity: string, minReclaim?: string): Threshold => ({
  signal,
  value: { quantity },
  graceMs: 0,
  ...(minReclaim !== undefined && { minReclaim: { quantity: minReclaim } }),
});

/** A soft threshold. */
export const soft = (signal: Signal, quantity: string, graceMs = 2 * MINUTE): Threshold => ({
  signal,
  value: { quantity },
  graceMs,
});

/** Who was evicted. */
export const names = (evicted: { name: string }[]) => evicted.map(({ name }) => name);

/** An eviction machine with a node of pods around it, as kubelet's tests drive `synchronize`. */
export class EvictionBench {
  now = BEGIN;
  readonly orders: EvictionOrder[] = [];
  readonly reclaimed: Reclaimable[] = [];
  pods: { pod: Pod; figures?: PodFigures }[] = [];
  /** What a look shows after the node gave back what it could; null: that fails. */
  afterReclaim: Observations | null = null;
  /** Ends pods that are evicted at once. */
  endsAtOnce = true;
  private snapshot = bornSnapshot(evictionMachine, undefined);
  private readonly disks: Disks;

  constructor(thresholds: Threshold[], settings: Partial<EvictionSettings> = {}, disks: Partial<Disks> = {}) {
    this.disks = { imageFs: false, splitFs: false, ...disks };
    const whole = { transitionMs: 5 * MINUTE, maxPodGraceSeconds: 5, ...settings, thresholds };
    this.take({ type: 'eviction.start', at: this.now, settings: whole });
    this.take({ type: 'eviction.disks', at: this.now, ...this.disks });
  }

  get context(): EvictionContext {
    return (this.snapshot.context ?? initialEviction()) as EvictionContext;
  }

  get state(): string {
    return statePath(this.snapshot.value);
  }

  take(message: EvictionMessage): EvictionOrder[] {
    const { snapshot, effects } = step<typeof this.snapshot, EvictionOrder>(evictionMachine, this.snapshot, message);
    this.snapshot = snapshot;
    this.orders.push(...effects);
    for (const order of effects) this.answer(order);
    return effects;
  }

  /** One look after so many ms; returns who was evicted by it. */
  look(seen: Observations, afterMs = MINUTE): Evicted[] {
    this.now += afterMs;
    const from = this.orders.length;
    const offenders = this.pods.flatMap(
      ({ pod, figures }) => (figures && offence(pod, figures, this.disks.imageFs)) ?? [],
    );
    // As the host does: a look that changes nothing is not told.
    if (offenders.length > 0 || isNews(this.context, seen, this.now))
      this.take({ type: 'eviction.looked', at: this.now, seen, offenders });
    return this.orders.slice(from).filter((order) => order.type === 'pod.evict');
  }

  private answer(order: EvictionOrder): void {
    const at = this.now;
    if (order.type === 'node.reclaim') {
      this.reclaimed.push(...order.what);
      this.take({ type: 'eviction.reclaimed', at, failures: [], seen: this.afterReclaim });
    } else if (order.type === 'pods.measure') {
      const candidates = this.pods.map(({ pod, figures }): Candidate =>
        candidateOf(pod, figures, order.signal, this.disks),
      );
      this.take({ type: 'eviction.measured', at, candidates });
    } else if (order.type === 'pod.evict' && this.endsAtOnce) {
      this.take({ type: 'eviction.killed', at, uid: order.uid });
      this.take({ type: 'eviction.cleaned', at, uid: order.uid });
    }
  }
}
