import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 50;
/**
 * A log that has not grown from one look to the next so often is whole, after a quarter of a second at the least. Looks are counted, and
 * not the time between them: where this process got no processor for that long, who writes the log may have got none either.
 */
const QUIET_LOOKS = 5;
/** Most looks, two seconds' worth: what still grows then is not written by the container that has ended. */
const MOST_LOOKS = 40;
/** The log of a container that ended longer ago is whole, ms. */
export const FRESH_MS = 10_000;

/**
 * Waits until the log of a container that has just ended is whole. containerd says that a container has ended when the pipes
 * of its output are empty; what it took out of them goes to the log by another goroutine (`redirectLogs`, in 1.6 as in 2.x),
 * which on a busy machine may come later. Kubelet hears of an end up to a second later and never sees this; whoever hears of it
 * at once has to wait. Ends early when `over` says so; a log that is not there is nothing to wait for.
 */
export async function untilQuiet(path: string, over: () => boolean = () => false): Promise<void> {
  let size = await sizeOf(path);
  for (let [looks, quiet] = [0, 0]; looks < MOST_LOOKS && quiet < QUIET_LOOKS && size >= 0 && !over(); looks++) {
    await sleep(LOOK_MS);
    const next = await sizeOf(path);
    quiet = next === size ? quiet + 1 : 0;
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
