import type { PodSnapshot } from '../../../machines/pod/pod-context.ts';

/** At first each so many steps of a pod are kept; twice as far apart whenever there are too many. */
const FIRST_STRIDE = 64;
/** Most snapshots of one pod, and in all; pods that were looked at longest ago go first. */
const PER_POD = 256;
const IN_ALL = 2_048;
/** The last steps that were asked for, whatever their number: who looks at a step looks at its neighbours next. */
const RECENT = 4;

interface PodMarks {
  stride: number;
  /** By index of the step, ascending. */
  kept: Map<number, PodSnapshot>;
  recent: { index: number; snapshot: PodSnapshot }[];
}

/** Snapshots that replays have passed, so that the next one need not begin at the beginning. Bounded. */
export class ReplayMarks {
  private readonly pods = new Map<string, PodMarks>();
  private total = 0;

  /** The last snapshot at or before the step. */
  nearest(uid: string, index: number): { index: number; snapshot: PodSnapshot } | null {
    const pod = this.pods.get(uid);
    if (pod === undefined) return null;
    let best: { index: number; snapshot: PodSnapshot } | null = null;
    const offer = (at: number, snapshot: PodSnapshot) => {
      if (at <= index && (best === null || at > best.index)) best = { index: at, snapshot };
    };
    for (let at = index - (index % pod.stride); at >= 0; at -= pod.stride) {
      const snapshot = pod.kept.get(at);
      if (snapshot === undefined) continue;
      offer(at, snapshot);
      break;
    }
    for (const { index: at, snapshot } of pod.recent) offer(at, snapshot);
    return best;
  }

  /** A replay on its way to the step `goal` has passed the step `index`. */
  note(uid: string, index: number, snapshot: PodSnapshot, goal: number): void {
    const pod = this.pods.get(uid) ?? { stride: FIRST_STRIDE, kept: new Map<number, PodSnapshot>(), recent: [] };
    if (index >= goal - 1) {
      // Looked at now: last in the order of pods.
      this.pods.delete(uid);
      this.pods.set(uid, pod);
      pod.recent = [...pod.recent.filter((r) => r.index !== index), { index, snapshot }].slice(-RECENT);
    } else if (!this.pods.has(uid)) this.pods.set(uid, pod);
    if (index % pod.stride !== 0 || pod.kept.has(index)) return;
    pod.kept.set(index, snapshot);
    this.total++;
    if (pod.kept.size > PER_POD) this.thin(pod);
    this.bound(uid);
  }

  forget(uid: string): void {
    this.total -= this.pods.get(uid)?.kept.size ?? 0;
    this.pods.delete(uid);
  }

  private thin(pod: PodMarks): void {
    pod.stride *= 2;
    for (const at of pod.kept.keys()) {
      if (at % pod.stride === 0) continue;
      pod.kept.delete(at);
      this.total--;
    }
  }

  private bound(except: string): void {
    // A pod without a kept snapshot still holds recent ones.
    for (const uid of this.pods.keys()) {
      if (this.total <= IN_ALL && this.pods.size <= IN_ALL) return;
      if (uid !== except) this.forget(uid);
    }
  }
}
