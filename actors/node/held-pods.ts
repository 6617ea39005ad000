import type { Hold } from '../../machines/protocol/hold.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import type { PodSource } from '../../machines/protocol/messages.ts';

/** A pod that waits for a device plugin before it is judged. */
interface Held {
  pod: Pod;
  source: PodSource;
  /** It came before all sources had spoken: what runs of it was adopted. */
  early: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** Pods that are not judged yet, and when they are to be asked about again. */
export class HeldPods {
  private readonly held = new Map<string, Held>();
  private readonly now: () => number;
  private readonly again: (source: PodSource, pod: Pod) => void;

  /** @param again what a pod waited for may be there, or has not come in time; it stays held until `release` */
  constructor(now: () => number, again: (source: PodSource, pod: Pod) => void) {
    this.now = now;
    this.again = again;
  }

  get uids(): string[] {
    return [...this.held.keys()];
  }

  /** It waits, from now on or on. */
  hold(source: PodSource, pod: Pod, { until, early }: Hold & { early: boolean }): void {
    this.release(uidOf(pod));
    const held: Held = { pod, source, early, timer: undefined };
    held.timer = setTimeout(() => this.tryAgain(held), Math.max(0, until - this.now())).unref();
    this.held.set(uidOf(pod), held);
  }

  /** As it is held; undefined when it is not. */
  get(uid: string): Readonly<Pick<Held, 'pod' | 'early'>> | undefined {
    return this.held.get(uid);
  }

  /** Its source told something else of it; one that is to end waits for nothing. */
  changed(pod: Pod): void {
    const held = this.held.get(uidOf(pod));
    if (held === undefined) return;
    if (pod.metadata?.deletionTimestamp === undefined) held.pod = pod;
    else this.release(uidOf(pod));
  }

  /** Waits no more. */
  release(uid: string): void {
    clearTimeout(this.held.get(uid)?.timer);
    this.held.delete(uid);
  }

  /** A plugin has come back: all are asked about again, in the order in which they came. */
  tryAll(): void {
    for (const held of [...this.held.values()]) this.tryAgain(held);
  }

  private tryAgain(held: Held): void {
    this.again(held.source, held.pod);
  }
}

function uidOf(pod: Pod): string {
  return pod.metadata?.uid ?? '';
}
