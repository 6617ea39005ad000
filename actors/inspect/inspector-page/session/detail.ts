import { messageOf } from '../../../../machines/values/message-of.ts';
import type { StepDetail } from '../../inspector/inspector-api.ts';
import { lastWish } from './last-wish.ts';
import { server, ServerError } from './server.ts';
import * as s from './session.ts';

/** Details of the pod that is shown, by step; few, since one may hold a megabyte. */
let cache = new Map<number, StepDetail>();
let cachedFor = '';
const MOST = 24;

let abort = new AbortController();

/** Loads everything about the shown step and the one before it. */
export const loadDetail = lastWish(loadOnce);

async function loadOnce(): Promise<void> {
  const uid = s.uid.value;
  const index = s.index.value;
  if (uid === '' || index < 0) return;
  if (cachedFor !== uid) {
    cache = new Map();
    cachedFor = uid;
  }
  try {
    const [detail, previous] = await Promise.all([
      detailAt(uid, index),
      index > 0 ? detailAt(uid, index - 1) : Promise.resolve(null),
    ]);
    if (uid !== s.uid.value) return;
    s.shown.value = { uid, index, detail, previous };
    s.shownError.value = '';
    loadExplanation(uid, index);
  } catch (error) {
    if (uid === s.uid.value) s.shownError.value = messageOf(error);
  }
}

async function detailAt(uid: string, index: number): Promise<StepDetail> {
  const known = cache.get(index);
  if (known !== undefined) {
    // Used last, forgotten last.
    cache.delete(index);
    cache.set(index, known);
    return known;
  }
  const detail = await server.detail(uid, index);
  if (uid === cachedFor) {
    cache.set(index, detail);
    for (const old of cache.keys()) {
      if (cache.size <= MOST) break;
      cache.delete(old);
    }
  }
  return detail;
}

let waiting = 0;
let refused = 0;

function loadExplanation(uid: string, index: number): void {
  clearTimeout(waiting);
  if (s.explanation.value?.index === index) return;
  if (refused > 2 && s.view.value !== 'explain') return;
  // Not for each step of a playback.
  waiting = window.setTimeout(() => {
    abort.abort();
    abort = new AbortController();
    server.explain(uid, index, abort.signal).then(
      (value) => {
        refused = 0;
        if (uid === s.uid.value) s.explanation.value = { index, value };
      },
      (error: unknown) => {
        // A server without it: after a few tries it is asked only when someone wants to see it.
        if (error instanceof ServerError) refused++;
        if (uid === s.uid.value && !abort.signal.aborted) s.explanation.value = null;
      },
    );
  }, 120);
}
