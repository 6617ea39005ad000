import type { EvictionMessage } from '../eviction/eviction-context.ts';
import type { DiskUse, PodUse } from '../eviction/pod-use.ts';

/** A pod at a measurement; null: it was gone. */
interface Point {
  at: number;
  use: PodUse | null;
}

/** What pods took over time, as a record of eviction has it: between two measurements the way is taken to be straight. */
export class UseTimeline {
  private readonly points = new Map<string, Point[]>();

  /** @param known what was known before the first message, and when */
  constructor(known: readonly PodUse[], knownAt: number, messages: readonly EvictionMessage[]) {
    const now = new Map<string, PodUse>();
    for (const use of known) this.put(now, use, knownAt);
    for (const message of messages) {
      // A new agent knows nothing of what was.
      if (message.type === 'eviction.start') now.clear();
      if (message.type !== 'eviction.sounded' || message.pods === null) continue;
      const { at, pods } = message;
      for (const uid of pods.gone) {
        now.delete(uid);
        this.points.get(uid)?.push({ at, use: null });
      }
      for (const use of pods.changed) now.set(use.uid, use);
      for (const use of now.values()) this.put(now, use, at);
    }
  }

  /** Pods that were there at a moment; ms since the epoch. */
  at(moment: number): PodUse[] {
    return [...this.points.keys()].flatMap((uid) => this.useAt(uid, moment) ?? []);
  }

  /** What a pod took at a moment; null when it was not there, or not measured yet. */
  useAt(uid: string, moment: number): PodUse | null {
    const points = this.points.get(uid) ?? [];
    const after = points.findIndex(({ at }) => at > moment);
    const before = after < 0 ? points.at(-1) : points[after - 1];
    const next = after < 0 ? undefined : points[after];
    if (before?.use == null) return null;
    return next?.use == null ? before.use : between(before.use, next.use, (moment - before.at) / (next.at - before.at));
  }

  /** What it took when it was measured last until a moment, though it may be gone by then. */
  lastUntil(uid: string, moment: number): PodUse | null {
    const points = (this.points.get(uid) ?? []).filter(({ at, use }) => use !== null && at <= moment);
    return points.at(-1)?.use ?? null;
  }

  private put(now: Map<string, PodUse>, use: PodUse, at: number): void {
    now.set(use.uid, use);
    const points = this.points.get(use.uid);
    if (points === undefined) this.points.set(use.uid, [{ at, use }]);
    else points.push({ at, use });
  }
}

function between(a: PodUse, b: PodUse, part: number): PodUse {
  if (a === b || a.takes === undefined || b.takes === undefined) return a;
  const [from, to] = [a.takes, b.takes];
  const mid = (x: number, y: number): number => Math.round(x + (y - x) * part);
  const disk = (x: DiskUse, y: DiskUse): DiskUse => ({ bytes: mid(x.bytes, y.bytes), inodes: mid(x.inodes, y.inodes) });
  return {
    ...a,
    takes: {
      memory: mid(from.memory, to.memory),
      pids: mid(from.pids, to.pids),
      disk: {
        root: disk(from.disk.root, to.disk.root),
        logs: disk(from.disk.logs, to.disk.logs),
        volumes: disk(from.disk.volumes, to.disk.volumes),
      },
    },
  };
}
