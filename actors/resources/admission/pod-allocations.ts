import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Admission } from '../../../machines/admission/rejection.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodMemory } from '../../../machines/protocol/memory.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import { actuatedOf, withActuated } from '../../../machines/resize/actuated.ts';
import { allocationOf, withAllocation } from '../../../machines/resize/allocation.ts';
import type { PodAllocation } from '../../../machines/resize/allocation.ts';
import { inOrderOfTurn } from '../../../machines/resize/pending-queue.ts';
import { notedBefore, pendingNote, withPending } from '../../../machines/resize/resize-conditions.ts';
import type { PendingNote } from '../../../machines/resize/resize-conditions.ts';
import { decideResize } from '../../../machines/resize/resize-decision.ts';
import { resizeMessage } from '../../../machines/resize/resize-events.ts';
import { resizeOperations } from '../../../machines/resize/resize-operations.ts';
import { isTerminalPhase } from '../../../machines/status/phase.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import type { PodEventReport, PodReport } from '../../pods/shard/shard-protocol.ts';
import { AllocationFile } from './allocation-file.ts';

/** First look at waiting resizes after the start, and while sources have not all spoken, ms. */
const FIRST_RETRY_MS = 30_000;
/** Pause between such looks, ms. */
const RETRY_MS = 180_000;

/** Why waiting resizes are tried once more (label of `kubelet_pod_deferred_accepted_resizes_total`). */
export type RetryTrigger = 'pod_resized' | 'pod_updated' | 'pods_added' | 'pods_removed' | 'periodic_retry';

/** What the allocations work with. */
export interface PodAllocationsOptions {
  rootDir: string;
  settings: Pick<NodeSettings, 'allocatable'>;
  log: Logger;
  now: () => number;
  metrics: Pick<
    Metrics,
    'requestedResizes' | 'infeasibleResizes' | 'pendingResizes' | 'resizes' | 'acceptedResizes' | 'resizeDuration'
  >;
  record: (event: PodEventReport) => void;
  /** Admission of a pod beside all others; the pod itself is counted as it asks here. */
  fits: (pod: Pod) => Admission;
  /** The pod holds these resources from now on. */
  recount: (pod: Pod) => void;
  sourcesReady: () => boolean;
  /** The pod as it is to run has changed. */
  changed: (pod: Pod) => void;
}

interface Entry {
  /** As its source wants it. */
  desired: Pod;
  allocation: PodAllocation;
  pending: PendingNote | undefined;
  /** The last status that its actor told. */
  status: Pod['status'];
  resizing: boolean;
  /** It was resized once: what it holds changes with what its containers are seen to have. */
  resized: boolean;
  /** When the resize under way was allocated, ms; 0 when it is over, or failed once. */
  since: number;
  terminal: boolean;
}

/**
 * What the node has set aside for each pod (kubelet's allocation manager, KEP-1287): a pod runs with what was allocated
 * to it, and a wish for more is granted when it fits. Wishes that do not fit wait, and are looked at when a pod ends or
 * shrinks, and every three minutes.
 */
export class PodAllocations {
  private readonly options: PodAllocationsOptions;
  private readonly pods = new Map<string, Entry>();
  private readonly allocatedFile: AllocationFile;
  private readonly actuatedFile: AllocationFile;
  /** What an earlier agent left of pods that did not come yet. */
  private readonly before: Map<string, PodAllocation>;
  private readonly actuatedBefore: Map<string, PodAllocation>;
  private readonly actuated = new Map<string, PodAllocation>();
  /** UIDs of pods that wait for a resize. */
  private waiting: string[] = [];
  private timer: NodeJS.Timeout | undefined;
  private retrying = false;

  constructor(options: PodAllocationsOptions) {
    this.options = options;
    const { rootDir, log } = options;
    this.allocatedFile = new AllocationFile(join(rootDir, 'allocated_pods_state'), log, () => ({
      ...Object.fromEntries(this.before),
      ...Object.fromEntries([...this.pods].map(([uid, { allocation }]) => [uid, allocation])),
    }));
    this.actuatedFile = new AllocationFile(join(rootDir, 'actuated_pods_state'), log, () => ({
      ...Object.fromEntries(this.actuatedBefore),
      ...Object.fromEntries(this.actuated),
    }));
    this.before = new Map(Object.entries(this.allocatedFile.read()));
    this.actuatedBefore = new Map(Object.entries(this.actuatedFile.read()));
    this.retryIn(FIRST_RETRY_MS);
  }

  /** A pod that comes, as it is to run: with what was allocated to it, by an earlier agent too. Not kept yet: see {@link admitted}. */
  arriving(pod: Pod): Pod {
    return withAllocation(pod, this.before.get(uidOf(pod)));
  }

  /** The node has taken the pod (given as it came): what it runs with is allocated. Returns it as it is to run. */
  admitted(pod: Pod): Pod {
    const uid = uidOf(pod);
    const before = this.before.get(uid);
    const given = withAllocation(pod, before);
    const pending = notedBefore(pod, 'PodResizePending', this.options.now());
    const terminal = isTerminalPhase(pod.status?.phase);
    // What kubelet knows of pod-level resources stays in its file.
    const allocation = { ...allocationOf(given), PodLevelResources: before?.PodLevelResources ?? null };
    const resizing = pod.status?.conditions?.some(({ type }) => type === 'PodResizeInProgress') ?? false;
    const entry: Entry = {
      desired: pod,
      allocation,
      pending: undefined,
      status: pod.status,
      resizing,
      resized: resizing,
      since: 0,
      terminal,
    };
    this.pods.set(uid, entry);
    this.before.delete(uid);
    if (given !== pod && !terminal) {
      entry.pending = pending;
      this.waiting.push(uid);
    }
    this.allocatedFile.soon();
    this.count();
    return withPending(given, entry.pending);
  }

  /** A newer version of a known pod. Returns it as it is to run; a wish that can be granted is granted at once. */
  updated(pod: Pod): Pod {
    const entry = this.pods.get(uidOf(pod));
    if (entry === undefined) return pod;
    const operations = resizeOperations(entry.desired, pod);
    entry.desired = pod;
    for (const operation of operations) this.options.metrics.requestedResizes.inc({ ...operation });
    if (operations.length > 0) {
      const uid = uidOf(pod);
      if (withAllocation(pod, entry.allocation) === pod) entry.pending = undefined;
      else if (!this.waiting.includes(uid)) this.waiting.push(uid);
      if (this.waiting.length > 0) this.retry('pod_updated', uid);
    }
    return this.running(entry);
  }

  /** The memory that a pod's actor starts with, with what an earlier agent's checkpoint knows of a resize. */
  remembered(pod: Pod, memory: PodMemory | null): PodMemory | null {
    return withActuated(memory, pod, this.actuatedBefore.get(uidOf(pod)), this.options.now());
  }

  /** A pod's actor told how it stands. */
  reported({ uid, status, state, memory }: PodReport): void {
    const entry = this.pods.get(uid);
    if (entry === undefined) return;
    entry.status = status;
    const pod = this.running(entry);
    const generation = pod.metadata?.generation ?? 0;
    // A report from before the last allocation says nothing of it.
    if (memory.resize !== undefined || (status.observedGeneration ?? 0) >= generation) this.actuates(uid, pod, memory);
    const resizing = memory.resize !== undefined;
    if (resizing || entry.resized) {
      entry.resized = true;
      entry.resizing = resizing;
      this.measure(entry, memory);
      this.options.recount({ ...pod, status });
      this.count();
      if (this.waiting.length > 0) this.retrySoon('pod_resized');
    }
    if (isTerminalPhase(status.phase) || state.startsWith('terminated.')) this.ended(uid, entry);
  }

  /** All sources have spoken once: what earlier agents left of pods that no source names is forgotten. */
  allSourcesSpoke(): void {
    this.before.clear();
    for (const uid of this.actuatedBefore.keys()) if (!this.pods.has(uid)) this.actuatedBefore.delete(uid);
  }

  /** Pods have come: resizes that waited under an earlier agent are looked at. */
  added(): void {
    if (this.waiting.length > 0) this.retry('pods_added');
  }

  /** The pod's source gave it up; it may still be stopping. */
  removed(uid: string): void {
    const entry = this.pods.get(uid);
    if (entry !== undefined) this.ended(uid, entry);
  }

  /** The pod is gone. */
  gone(uid: string): void {
    const known = this.pods.delete(uid);
    this.actuated.delete(uid);
    this.waiting = this.waiting.filter((other) => other !== uid);
    if (!known) return;
    this.allocatedFile.soon();
    this.actuatedFile.soon();
    this.count();
    if (this.waiting.length > 0) this.retrySoon('pods_removed');
  }

  stop(): void {
    clearTimeout(this.timer);
    this.allocatedFile.close();
    this.actuatedFile.close();
  }

  private ended(uid: string, entry: Entry): void {
    if (entry.terminal) return;
    entry.terminal = true;
    this.waiting = this.waiting.filter((other) => other !== uid);
    if (this.waiting.length > 0) this.retrySoon('pods_removed');
  }

  private actuates(uid: string, pod: Pod, memory: PodMemory): void {
    this.actuatedBefore.delete(uid);
    const now = actuatedOf(pod, memory.resize);
    const known = this.actuated.get(uid);
    if (JSON.stringify(known) === JSON.stringify(now)) return;
    this.actuated.set(uid, now);
    // Who takes over must not put the same in force again: that may restart a container.
    if (known === undefined) this.actuatedFile.soon();
    else this.actuatedFile.now();
  }

  private measure(entry: Entry, { resize }: PodMemory): void {
    if (entry.since === 0 || (resize !== undefined && resize.error === '')) return;
    const success = resize === undefined ? 'true' : 'false';
    this.options.metrics.resizeDuration.observe({ success }, this.options.now() - entry.since);
    entry.since = 0;
  }

  /** After the message at hand: who frees resources is told of before who gets them. */
  private retrySoon(trigger: RetryTrigger): void {
    if (this.retrying) return;
    this.retrying = true;
    queueMicrotask(() => {
      this.retrying = false;
      this.retry(trigger);
    });
  }

  private retryIn(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.retry('periodic_retry'), ms);
    this.timer.unref();
  }

  /** Looks at all waiting resizes, in their order. `quiet`: the pod of this UID is told by who asked. */
  private retry(trigger: RetryTrigger, quiet = ''): void {
    if (!this.options.sourcesReady()) {
      this.retryIn(FIRST_RETRY_MS);
      return;
    }
    this.retryIn(RETRY_MS);
    const entries = this.waiting.flatMap((uid) => {
      const entry = this.pods.get(uid);
      return entry === undefined || entry.terminal ? [] : [{ uid, entry }];
    });
    const turns = entries.map(({ uid, entry: { desired, allocation, pending } }) => ({
      uid,
      pod: desired,
      allocation,
      since: pending?.since ?? null,
    }));
    const left: string[] = [];
    for (const turn of inOrderOfTurn(turns) as typeof turns) {
      const entry = this.pods.get(turn.uid);
      if (entry === undefined) continue;
      const before = this.running(entry);
      if (this.decide(turn.uid, entry, trigger)) left.push(turn.uid);
      if (turn.uid !== quiet && JSON.stringify(before) !== JSON.stringify(this.running(entry)))
        this.options.changed(this.running(entry));
    }
    this.waiting = left;
    this.count();
  }

  /** True: it goes on waiting. */
  private decide(uid: string, entry: Entry, trigger: RetryTrigger): boolean {
    const { fits, recount, metrics, settings } = this.options;
    const { desired, allocation } = entry;
    const verdict = decideResize({ desired, allocation, allocatable: settings.allocatable, admit: fits });
    switch (verdict.kind) {
      case 'none':
        entry.pending = undefined;
        return false;
      case 'allocate':
        if (entry.pending?.reason === 'Deferred') metrics.acceptedResizes.inc({ retry_trigger: trigger });
        entry.allocation = { ...allocationOf(desired), PodLevelResources: allocation.PodLevelResources };
        entry.resizing = true;
        entry.resized = true;
        entry.since = this.options.now();
        // What is put in force must be on disk before.
        this.allocatedFile.now();
        if (!this.actuated.has(uid)) this.actuated.set(uid, allocation);
        entry.pending = undefined;
        recount({ ...desired, status: entry.status });
        return false;
      case 'pending': {
        const { reason, message, detail, told } = verdict;
        const generation = desired.metadata?.generation ?? 0;
        if (detail !== undefined) metrics.infeasibleResizes.inc({ reason_detail: detail });
        const news = entry.pending?.reason !== reason || entry.pending.generation !== generation;
        entry.pending = pendingNote(entry.pending, { reason, message, generation }, this.options.now());
        // From now on the spec does not say any more what the pod has.
        if (news) this.allocatedFile.now();
        if (news && told) this.tell(desired, reason === 'Deferred' ? 'ResizeDeferred' : 'ResizeInfeasible', message);
        return reason === 'Deferred';
      }
    }
  }

  private tell(pod: Pod, reason: 'ResizeDeferred' | 'ResizeInfeasible', error: string): void {
    const { uid = '', namespace = '', name = '', generation = 0 } = pod.metadata ?? {};
    const message = resizeMessage(reason, pod, generation, error);
    this.options.record({ uid, namespace, name, at: this.options.now(), type: 'Warning', reason, message });
  }

  /** The pod as it is to run. */
  private running({ desired, allocation, pending }: Entry): Pod {
    return withPending(withAllocation(desired, allocation), pending);
  }

  private count(): void {
    const { pendingResizes, resizes } = this.options.metrics;
    const reasons = new Map<string, number>();
    let under = 0;
    for (const { pending, resizing } of this.pods.values()) {
      if (resizing) under++;
      if (pending === undefined) continue;
      const reason = pending.reason.toLowerCase();
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
    pendingResizes.reset();
    for (const [reason, n] of reasons) pendingResizes.set({ reason }, n);
    resizes.set(under);
  }
}

function uidOf(pod: Pod): string {
  return pod.metadata?.uid ?? '';
}
