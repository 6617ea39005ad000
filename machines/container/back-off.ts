/** First crash-loop and image-pull delay, ms (kubelet `initialBackOff`, `imageBackOffPeriod`). */
export const INITIAL_BACK_OFF_MS = 10_000;
/** Longest image-pull delay, ms. */
export const MAX_IMAGE_BACK_OFF_MS = 300_000;

/** State of one back-off: the delay in force and when it was last applied (client-go `flowcontrol.Backoff`). */
export interface BackOff {
  delayMs: number;
  since: number;
}

/** A container (or an image) that gave no trouble for so long starts from the first delay again, whatever the longest delay is (kubelet `HasExpiredFunc`), ms. */
export const BACK_OFF_EXPIRES_MS = 600_000;

function expired(entry: BackOff, eventAt: number): boolean {
  return eventAt - entry.since > BACK_OFF_EXPIRES_MS;
}

/**
 * Until when a container that finished at `finishedAt` must wait; null when it may start now.
 * The rule is kubelet's `IsInBackOffSince`: the delay counts from the moment the container ended.
 */
export function waitsUntil(entry: BackOff | null, finishedAt: number, at: number): number | null {
  if (entry === null || expired(entry, finishedAt)) return null;
  const until = finishedAt + entry.delayMs;
  return at < until ? until : null;
}

/** The entry after one more start: first 10 s (or the maximum, when that is less), then doubled up to `maxMs`. */
export function nextBackOff(entry: BackOff | null, eventAt: number, at: number, maxMs: number): BackOff {
  if (entry === null || expired(entry, eventAt)) return { delayMs: Math.min(INITIAL_BACK_OFF_MS, maxMs), since: at };
  return { delayMs: Math.min(entry.delayMs * 2, maxMs), since: at };
}
