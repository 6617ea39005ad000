import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** A log that has not grown for so long is whole, ms. */
const QUIET_MS = 250;
/** Longest wait: what still grows then is not written by the container that has ended, ms. */
const MOST_MS = 2_000;
const LOOK_MS = 50;
/** The log of a container that ended longer ago is whole, ms. */
export const FRESH_MS = 10_000;

/**
 * Waits until the log of a container that has just ended is whole. containerd says that a container has ended when the pipes
 * of its output are empty; what it took out of them goes to the log by another goroutine (`redirectLogs`, in 1.6 as in 2.x),
 * which on a busy machine may come later. Kubelet hears of an end up to a second later and never sees this; whoever hears of it
 * at once has to wait. Ends early when `over` says so; a log that is not there is nothing to wait for.
 */
export async function untilQuiet(path: string, over: () => boolean = () => false): Promise<void> {
  const began = performance.now();
  let size = await sizeOf(path);
  for (let since = began; size >= 0 && !over();) {
    const now = performance.now();
    if (now - since >= QUIET_MS || now - began >= MOST_MS) return;
    await sleep(LOOK_MS);
    const next = await sizeOf(path);
    if (next !== size) since = performance.now();
    size = next;
  }
}

/** Whether a container that ended then (both ms since the epoch) may still have output on its way to its log. */
export function endedJustNow(finishedAt: number, now: number): boolean {
  return finishedAt > 0 && now - finishedAt < FRESH_MS;
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => -1,
  );
}
