/** First crash-loop and image-pull delay, ms (kubelet `initialCrashLoopBackOff`, `imageBackOffPeriod`). */
const INITIAL_BACK_OFF_MS = 10_000;
/** Longest image-pull delay, ms. */
export const MAX_IMAGE_BACK_OFF_MS = 300_000;

/** State of one back-off: the delay in force and when it was last applied (client-go `flowcontrol.Backoff`, without jitter as kubelet makes it). */
export interface BackOffEntry {
  delayMs: number;
  since: number;
}

/** A container (or an image) that gave no trouble for so long starts from the first delay again, whatever the longest delay is (kubelet `HasExpiredFunc`), ms. */
export const BACK_OFF_EXPIRES_MS = 600_000;

/** The runtime reads the same clock a moment earlier or later, ms. */
const CLOCKS_DIFFER_MS = 5_000;

function expired(entry: BackOffEntry, eventAt: number): boolean {
  return eventAt - entry.since > BACK_OFF_EXPIRES_MS;
}

/**
 * Until when a container that finished at `finishedAt` must wait; null when it may start now.
 * The rule is kubelet's `IsInBackOffSince`: the delay counts from the moment the container ended. An end in the future is
 * one of before the clock was set back (kubelet waits until that time comes again): then it counts from the last start.
 */
export function waitsUntil(entry: BackOffEntry | null, finishedAt: number, at: number): number | null {
  const ended = entry !== null && finishedAt > at + CLOCKS_DIFFER_MS ? entry.since : finishedAt;
  if (entry === null || expired(entry, ended)) return null;
  const until = ended + entry.delayMs;
  return at < until ? until : null;
}

/** The entry after one more start: first `firstMs` (or the maximum, when that is less), then doubled up to `maxMs`. */
export function nextBackOff(
  entry: BackOffEntry | null,
  eventAt: number,
  at: number,
  maxMs: number,
  firstMs = INITIAL_BACK_OFF_MS,
): BackOffEntry {
  const ended = entry !== null && eventAt > at + CLOCKS_DIFFER_MS ? entry.since : eventAt;
  if (entry === null || expired(entry, ended)) return { delayMs: Math.min(firstMs, maxMs), since: at };
  return { delayMs: Math.min(entry.delayMs * 2, maxMs), since: at };
}
