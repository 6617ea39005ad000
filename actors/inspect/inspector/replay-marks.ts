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
  kept: Map<number, unknown>;
  recent: { index: number; state: unknown }[];
}

/** States that replays have passed, so that the next one need not begin at the beginning. Bounded. */
export class ReplayMarks {
  private readonly pods = new Map<string, PodMarks>();
  private total = 0;

  /** The last snapshot at or before the step. */
  nearest(uid: string, index: number): { index: number; state: unknown } | null {
    const pod = this.pods.get(uid);
    if (pod === undefined) return null;
    let best: { index: number; state: unknown } | null = null;
    const offer = (at: number, state: unknown) => {
      if (at <= index && (best === null || at > best.index)) best = { index: at, state };
    };
    for (let at = index - (index % pod.stride); at >= 0; at -= pod.stride) {
      const state = pod.kept.get(at);
      if (state === undefined) continue;
      offer(at, state);
      break;
    }
    for (const { index: at, state } of pod.recent) offer(at, state);
    return best;
  }

  /** A replay on its way to the step `goal` has passed the step `index`. */
  note(uid: string, index: number, state: unknown, goal: number): void {
    const pod = this.pods.get(uid) ?? { stride: FIRST_STRIDE, kept: new Map<number, unknown>(), recent: [] };
    if (index >= goal - 1) {
      // Looked at now: last in the order of pods.
      this.pods.delete(uid);
      this.pods.set(uid, pod);
      pod.recent = [...pod.recent.filter((r) => r.index !== index), { index, state }].slice(-RECENT);
    } else if (!this.pods.has(uid)) this.pods.set(uid, pod);
    if (index % pod.stride !== 0 || pod.kept.has(index)) return;
    pod.kept.set(index, state);
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
