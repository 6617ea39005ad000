import { batch, computed, effect, signal } from '@preact/signals';
import { messageOf } from '../../../../machines/values/message-of.ts';
import type { Overview } from '../../inspector/inspector-api.ts';
import { lastWish } from './last-wish.ts';
import { server } from './server.ts';
import * as s from './session.ts';
import { explainWaiting } from './waiting-words.ts';

/** The node with its pods, as the server told it last; null while it has not. */
export const overview = signal<Overview | null>(null);
export const overviewError = signal('');
/** The moment that is looked at; null: the newest. */
export const overviewAt = computed(() => (s.uid.value === '' ? (s.moment.value.at ?? null) : null));

/** While the node moves on, it is asked for at most this often, ms. */
const AGAIN_MS = 1_000;
/** And where nothing happens this often. */
const IDLE_MS = 5_000;

let timer = 0;

/** Loads what is shown while no pod is chosen. */
export const loadOverview = lastWish(async () => {
  const at = overviewAt.value;
  try {
    const told = await server.overview(at);
    batch(() => {
      overview.value = told;
      overviewError.value = '';
    });
    explainWaiting(told.waiting.pods, at === null);
  } catch (error) {
    overviewError.value = messageOf(error);
  }
});

function loadSoon(): void {
  timer ||= window.setTimeout(() => {
    timer = 0;
    if (s.uid.peek() === '') loadOverview();
  }, AGAIN_MS);
}

// Where nothing happens, time goes on nevertheless.
effect(() => {
  const told = overview.value;
  if (told === null || s.uid.value !== '' || s.connection.value !== 'live') return;
  if (s.now.value - told.to > Math.max(IDLE_MS, told.history.width)) loadSoon();
});

// First when the page is connected, then whenever something of the node or a pod has changed.
effect(() => {
  void s.pods.value;
  void s.node.value;
  void s.machines.value;
  if (s.uid.value !== '' || !s.podsLoaded.value) return;
  if (overview.peek() === null) loadOverview();
  else loadSoon();
});
