/** Speeds that `+` and `-` go through. */
const SPEEDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] as const;

/** Longest wait between two steps while playing, ms of the viewer's time: nobody watches an idle hour at 1x. */
export const LONGEST_PAUSE_MS = 1500;

/** The next faster (`by` 1) or slower (-1) speed; the same at either end. */
export function nextSpeed(speed: number, by: 1 | -1): number {
  const at = SPEEDS.findIndex((s) => s >= speed);
  return SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, (at < 0 ? SPEEDS.length - 1 : at) + by))] ?? 1;
}

/** A playback between two frames: the step shown, and recorded ms that have gone by since it. */
export interface PlayHead {
  index: number;
  spent: number;
}

/**
 * Moves on by `elapsed` ms of the viewer's time. `timeOf` gives when a step was, or undefined when it is not loaded:
 * then the head waits there. `last`: index of the last step. A step takes as long as recorded, divided by `speed`, and
 * at most {@link LONGEST_PAUSE_MS}.
 */
export function advancePlay(
  head: PlayHead,
  elapsed: number,
  speed: number,
  last: number,
  timeOf: (index: number) => number | undefined,
): PlayHead {
  let { index } = head;
  let spent = head.spent + elapsed * speed;
  while (index < last) {
    const now = timeOf(index);
    const next = timeOf(index + 1);
    if (now === undefined || next === undefined) return { index, spent: 0 };
    const gap = Math.min(Math.max(0, next - now), LONGEST_PAUSE_MS * speed);
    if (spent < gap) return { index, spent };
    spent -= gap;
    index++;
  }
  return { index: last, spent: 0 };
}
