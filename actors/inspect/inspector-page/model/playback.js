/** Speeds that `+` and `-` go through. */
export var SPEEDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
/** Longest wait between two steps while playing, ms of the viewer's time: nobody watches an idle hour at 1x. */
export var LONGEST_PAUSE_MS = 1500;
/** The next faster (`by` 1) or slower (-1) speed; the same at either end. */
export function nextSpeed(speed, by) {
  var _a;
  var at = SPEEDS.findIndex(function (s) {
    return s >= speed;
  });
  return (_a = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, (at < 0 ? SPEEDS.length - 1 : at) + by))]) !== null &&
    _a !== void 0
    ? _a
    : 1;
}
/**
 * Moves on by `elapsed` ms of the viewer's time. `timeOf` gives when a step was, or undefined when it is not loaded:
 * then the head waits there. `last`: index of the last step. A step takes as long as recorded, divided by `speed`, and
 * at most {@link LONGEST_PAUSE_MS}.
 */
export function advancePlay(head, elapsed, speed, last, timeOf) {
  var index = head.index;
  var spent = head.spent + elapsed * speed;
  while (index < last) {
    var now = timeOf(index);
    var next = timeOf(index + 1);
    if (now === undefined || next === undefined) return { index: index, spent: 0 };
    var gap = Math.min(Math.max(0, next - now), LONGEST_PAUSE_MS * speed);
    if (spent < gap) return { index: index, spent: spent };
    spent -= gap;
    index++;
  }
  return { index: last, spent: 0 };
}
