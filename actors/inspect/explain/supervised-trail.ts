import type { Supervised } from '../../../machines/explain/explain-supervision.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { AsideHarm } from '../../../machines/supervisor/harm.ts';

/** What the supervisor's journal says of the pods that are looked for. */
export class SupervisedTrail {
  readonly #known = new Map<string, { pod: Pod; source: string; place: string; since: number; forgottenAt: number }>();
  readonly #started = new Set<string>();
  readonly #aside = new Map<string, AsideHarm>();
  #sourcesReady = false;

  /** A source named (or changed) a pod. */
  named(pod: Pod, source: string, place: string, at: number): void {
    const uid = pod.metadata?.uid ?? '';
    const before = this.#known.get(uid);
    if (before === undefined || before.forgottenAt > 0)
      this.#known.set(uid, { pod, source, place, since: at, forgottenAt: 0 });
    else this.#known.set(uid, { ...before, pod, place: place || before.place });
  }

  sourcesReady(): void {
    this.#sourcesReady = true;
  }

  started(uid: string): void {
    this.#started.add(uid);
    this.#aside.delete(uid);
  }

  /** Workers died on it, and it has no actor for a while. */
  putAside(uid: string, harm: AsideHarm): void {
    this.#aside.set(uid, harm);
  }

  /** Why it has no actor for a while; undefined when that is not so. */
  asideOf(uid: string): AsideHarm | undefined {
    return this.#aside.get(uid);
  }

  forgotten(uid: string, at: number): void {
    this.#started.delete(uid);
    this.#aside.delete(uid);
    const before = this.#known.get(uid);
    if (before !== undefined) this.#known.set(uid, { ...before, forgottenAt: at });
  }

  /** Where the pod was read from, '' when not known. */
  placeOf(uid: string): string {
    return this.#known.get(uid)?.place ?? '';
  }

  /** What is known of a pod; null when the journal does not name it. */
  of(uid: string): Supervised | null {
    const known = this.#known.get(uid);
    if (known === undefined) return null;
    const { namespace = '', name = '' } = known.pod.metadata ?? {};
    const predecessor = [...this.#started].find((other) => {
      const meta = this.#known.get(other)?.pod.metadata;
      return other !== uid && meta?.namespace === namespace && meta.name === name;
    });
    return {
      pod: { namespace, name, uid },
      source: known.source,
      place: known.place,
      since: known.since,
      sourcesReady: this.#sourcesReady,
      predecessor: predecessor ?? '',
      forgottenAt: known.forgottenAt,
    };
  }
}
