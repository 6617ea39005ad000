import type { PlayHead } from '../model/playback.ts';
import { advancePlay, nextSpeed } from '../model/playback.ts';
import * as s from './session.ts';
import { goTo } from './travel.ts';

let head: PlayHead = { index: 0, spent: 0 };
let before = 0;

/** Starts or stops; at the end it starts from the beginning. */
export function togglePlay(): void {
  if (s.playing.value) {
    s.playing.value = false;
    return;
  }
  const last = s.total.value - 1;
  if (last < 1) return;
  if (s.index.value >= last) goTo(s.first.value);
  head = { index: s.index.value, spent: 0 };
  before = performance.now();
  s.playing.value = true;
  requestAnimationFrame(frame);
}

function frame(time: number): void {
  if (!s.playing.value) return;
  const elapsed = Math.min(250, Math.max(0, time - before));
  before = time;
  // Whoever moved the slider while it plays goes on from there.
  if (head.index !== s.index.value) head = { index: s.index.value, spent: 0 };
  const last = s.total.value - 1;
  head = advancePlay(head, elapsed, s.speed.value, last, (i) => s.steps.store.at(i)?.at);
  if (head.index !== s.index.value) goTo(head.index);
  if (head.index >= last) s.playing.value = false;
  else requestAnimationFrame(frame);
}

/** One speed faster or slower. */
export function changeSpeed(by: 1 | -1): void {
  s.speed.value = nextSpeed(s.speed.value, by);
}
