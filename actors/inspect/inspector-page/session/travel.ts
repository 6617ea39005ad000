import { batch } from '@preact/signals';
import type { View } from '../model/moment.ts';
import { formatMoment, parseMoment } from '../model/moment.ts';
import { StepStore } from '../model/step-store.ts';
import { loadDetail } from './detail.ts';
import { loadAround } from './load-steps.ts';
import { loadOverview, overview, overviewAt } from './node-overview.ts';
import * as s from './session.ts';

let writing = 0;

/** Writes the address a moment later: browsers allow few history calls a second. */
export function writeAddress(): void {
  clearTimeout(writing);
  writing = window.setTimeout(() => {
    const hash = formatMoment(s.moment.value);
    if (hash !== location.hash) history.replaceState(null, '', hash);
  }, 150);
}

/** Opens a pod at its newest step, or at `step`. */
export function openPod(uid: string, step: number | null = null): void {
  if (uid === s.uid.value) {
    goTo(step);
    return;
  }
  clearTimeout(writing);
  const { at: _at, ...rest } = s.moment.value;
  const next = { ...rest, uid, step, chart: 'pod' };
  // A pod is a place to come back to: it gets an entry in the history, a step does not.
  history.pushState(null, '', formatMoment(next));
  batch(() => {
    s.moment.value = next;
    startPod();
  });
}

/** Forgets the steps of the pod that was shown and loads those of the chosen one. */
export function startPod(): void {
  s.steps.store = new StepStore();
  s.total.value = s.pod.value?.steps ?? 0;
  s.steps.store.total = s.total.value;
  s.first.value = 0;
  s.stepsVersion.value++;
  s.stepsError.value = '';
  s.shown.value = null;
  s.shownError.value = '';
  s.explanation.value = null;
  s.playing.value = false;
  if (s.uid.value === '') return;
  loadAround();
  loadDetail();
}

/** Goes to a step; null follows the newest one. */
export function goTo(step: number | null): void {
  const last = s.total.value - 1;
  const to = step === null ? null : Math.max(s.first.value, Math.min(step, last));
  if (to === s.moment.value.step) return;
  s.moment.value = { ...s.moment.value, step: to };
  writeAddress();
  loadAround();
  loadDetail();
}

/** One step back or on; stays at either end. */
export function goBy(by: number): void {
  s.playing.value = false;
  goTo(s.index.value + by);
}

/** To the nearest step before or after this one at which the pod's state changed, among those that are loaded. */
export function goToChange(by: 1 | -1): void {
  s.playing.value = false;
  for (let i = s.index.value + by; i >= 0 && i < s.total.value; i += by) {
    const step = s.steps.store.at(i);
    if (step === undefined) return;
    if (step.before !== step.after) {
      goTo(i);
      return;
    }
  }
}

/** Follows the newest step. */
export function goLive(): void {
  s.playing.value = false;
  goTo(null);
}

export function setView(view: View): void {
  s.moment.value = { ...s.moment.value, view };
  writeAddress();
  loadDetail();
}

/** Draws another machine of the pod: `pod`, `container/NAME`, `probe/CONTAINER/KIND`. */
export function setChart(chart: string): void {
  s.moment.value = { ...s.moment.value, chart };
  writeAddress();
}

/** Address of the shown moment, with its step even while the newest one is followed. */
export function linkHere(): string {
  const at = overviewAt.value ?? overview.value?.at;
  if (s.uid.value === '' && at !== undefined)
    return new URL(formatMoment({ ...s.moment.value, at }), location.href).href;
  const step = s.index.value < 0 ? null : s.index.value;
  return new URL(formatMoment({ ...s.moment.value, step }), location.href).href;
}

/** Follows the address: a link that was opened, or the browser's back. */
export function followAddress(): void {
  const next = parseMoment(location.hash);
  const other = next.uid !== s.uid.value;
  batch(() => {
    s.moment.value = next;
    if (other) startPod();
  });
  if (s.uid.value === '') loadOverview();
  if (other) return;
  loadAround();
  loadDetail();
}
