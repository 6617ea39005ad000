/** A call of a pod that was answered: an effect with its outcome. */
export interface Call {
  uid: string;
  /** Type of the effect, e.g. `cri.RunPodSandbox`. */
  type: string;
  key: string;
  /** The steps that asked and that brought the outcome. */
  asked: number;
  answered: number;
  /** When it was asked for, ms since the epoch. */
  at: number;
  ms: number;
  failed: boolean;
}

/** Most calls that are kept of a span of time. */
export const KEPT_CALLS = 10;

/** Longest first; of those that took as long the oldest. */
export function byLength(a: { ms: number; at: number }, b: { ms: number; at: number }): number {
  return b.ms - a.ms || a.at - b.at;
}

/**
 * Keeps a call in `list`, longest first, when it belongs to the {@link KEPT_CALLS} longest. Of the same call of one pod
 * the longest alone is kept: a probe that always takes a second must not push all others out.
 */
export function keepSlow(list: Call[], call: Call): void {
  const last = list.at(-1);
  if (list.length >= KEPT_CALLS && last !== undefined && byLength(last, call) <= 0) return;
  const same = list.findIndex(({ uid, type }) => uid === call.uid && type === call.type);
  const known = list[same];
  if (known !== undefined) {
    if (byLength(known, call) <= 0) return;
    list.splice(same, 1);
  }
  const place = list.findIndex((other) => byLength(call, other) < 0);
  list.splice(place < 0 ? list.length : place, 0, call);
  if (list.length > KEPT_CALLS) list.pop();
}
