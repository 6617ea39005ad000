import { fnv32a } from '../values/hash.ts';
import type { TrackedPod } from './tracked-pod.ts';

/**
 * All tracked pods, plain JSON: by the bucket of their UID, then by UID. A change copies one bucket and the list of
 * buckets, not all pods of the node. `waiting` names those that wait for a predecessor, in the order of their coming.
 */
export interface PodTable {
  readonly buckets: Readonly<Record<string, Readonly<Record<string, TrackedPod>>>>;
  readonly waiting: readonly string[];
}

/** No pods. */
export const NO_TRACKED_PODS: PodTable = { buckets: {}, waiting: [] };

const BUCKETS = 64;

/** The bucket that a UID is in. */
export function bucketOf(uid: string): string {
  // High bits: the low ones choose the shard.
  return `b${(fnv32a(uid) >>> 16) % BUCKETS}`;
}

/** The pod of this UID. */
export function trackedPod(table: PodTable, uid: string): TrackedPod | undefined {
  return table.buckets[bucketOf(uid)]?.[uid];
}

/**
 * All pods; those that wait come last, in the order of their coming. The order of the others depends on pods that are gone,
 * which a journal segment that begins later does not know: nothing that is decided may follow it.
 */
export function trackedPods(table: PodTable): TrackedPod[] {
  const out: TrackedPod[] = [];
  for (const bucket of Object.values(table.buckets))
    for (const tracked of Object.values(bucket)) if (tracked.phase !== 'waiting') out.push(tracked);
  for (const uid of table.waiting) {
    const tracked = trackedPod(table, uid);
    if (tracked !== undefined) out.push(tracked);
  }
  return out;
}

/** A table of these pods; the order of those that wait is kept. */
export function podTable(pods: Iterable<TrackedPod>): PodTable {
  const draft = new PodTableDraft(NO_TRACKED_PODS);
  for (const tracked of pods) draft.put(tracked);
  return draft.table();
}

/** The changes of one turn: buckets are copied when the first of their pods changes, the table before stays as it was. */
export class PodTableDraft {
  private readonly before: PodTable;
  private buckets: Record<string, Readonly<Record<string, TrackedPod>>> | null = null;
  private readonly own = new Map<string, Record<string, TrackedPod>>();
  private waiting: readonly string[];

  constructor(before: PodTable) {
    this.before = before;
    this.waiting = before.waiting;
  }

  /** As {@link trackedPod}, with this turn's changes. */
  get(uid: string): TrackedPod | undefined {
    return (this.buckets ?? this.before.buckets)[bucketOf(uid)]?.[uid];
  }

  put(tracked: TrackedPod): void {
    const { uid, phase } = tracked;
    this.ownBucket(uid)[uid] = tracked;
    const waits = this.waiting.includes(uid);
    if (phase === 'waiting' && !waits) this.waiting = [...this.waiting, uid];
    if (phase !== 'waiting' && waits) this.waiting = this.waiting.filter((other) => other !== uid);
  }

  delete(uid: string): void {
    if (this.get(uid) === undefined) return;
    delete this.ownBucket(uid)[uid];
    if (this.waiting.includes(uid)) this.waiting = this.waiting.filter((other) => other !== uid);
  }

  /** UIDs of pods that wait, in the order of their coming. */
  waitingUids(): readonly string[] {
    return this.waiting;
  }

  /** The table with all changes. */
  table(): PodTable {
    if (this.buckets === null) return this.before;
    return { buckets: this.buckets, waiting: this.waiting };
  }

  private ownBucket(uid: string): Record<string, TrackedPod> {
    const key = bucketOf(uid);
    let bucket = this.own.get(key);
    if (bucket === undefined) {
      this.buckets ??= { ...this.before.buckets };
      bucket = { ...this.buckets[key] };
      this.own.set(key, bucket);
      this.buckets[key] = bucket;
    }
    return bucket;
  }
}
