import { batch } from '@preact/signals';
import { formatMoment } from '../model/moment.ts';
import { spanAt, spanEnd } from '../model/span-place.ts';
import { loadOverview, overview, overviewAt } from './node-overview.ts';
import * as s from './session.ts';
import { startPod, writeAddress } from './travel.ts';

/** Shows the node with all its pods, at its newest moment. */
export function openNode(): void {
  if (s.uid.value === '') {
    goToMoment(null);
    return;
  }
  const { at: _at, ...rest } = s.moment.value;
  const next = { ...rest, uid: '', step: null, chart: 'pod' };
  history.pushState(null, '', formatMoment(next));
  batch(() => {
    s.moment.value = next;
    startPod();
  });
  loadOverview();
}

/** Goes to a moment of the node; null follows the newest. */
export function goToMoment(at: number | null): void {
  if (at === overviewAt.value) return;
  const { at: _at, ...rest } = s.moment.value;
  s.moment.value = at === null ? rest : { ...rest, at };
  writeAddress();
  loadOverview();
}

/** Goes to the end of a span of the node's history; the last one is the newest moment. */
export function goToSpan(number: number): void {
  const told = overview.value;
  if (told === null) return;
  const { history, to } = told;
  const span = Math.max(0, Math.min(number, history.length - 1));
  goToMoment(span === history.length - 1 ? null : Math.min(spanEnd(history, span), to));
}

/** So many spans back or on. */
export function goBySpans(by: number): void {
  const history = overview.value?.history;
  if (history !== undefined) goToSpan(spanAt(history, overviewAt.value) + by);
}
