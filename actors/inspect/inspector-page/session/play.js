import { advancePlay, nextSpeed } from '../model/playback.ts';
import * as s from './session.ts';
import { goTo } from './travel.ts';
var head = { index: 0, spent: 0 };
var before = 0;
/** Starts or stops; at the end it starts from the beginning. */
export function togglePlay() {
  if (s.playing.value) {
    s.playing.value = false;
    return;
  }
  var last = s.total.value - 1;
  if (last < 1) return;
  if (s.index.value >= last) goTo(s.first.value);
  head = { index: s.index.value, spent: 0 };
  before = performance.now();
  s.playing.value = true;
  requestAnimationFrame(frame);
}
function frame(time) {
  if (!s.playing.value) return;
  var elapsed = Math.min(250, Math.max(0, time - before));
  before = time;
  // Whoever moved the slider while it plays goes on from there.
  if (head.index !== s.index.value) head = { index: s.index.value, spent: 0 };
  var last = s.total.value - 1;
  head = advancePlay(head, elapsed, s.speed.value, last, function (i) {
    var _a;
    return (_a = s.steps.store.at(i)) === null || _a === void 0 ? void 0 : _a.at;
  });
  if (head.index !== s.index.value) goTo(head.index);
  if (head.index >= last) s.playing.value = false;
  else requestAnimationFrame(frame);
}
/** One speed faster or slower. */
export function changeSpeed(by) {
  s.speed.value = nextSpeed(s.speed.value, by);
}
