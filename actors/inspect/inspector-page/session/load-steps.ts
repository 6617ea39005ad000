import { batch } from '@preact/signals';
import { messageOf } from '../../../../machines/values/message-of.ts';
import { BLOCK } from '../model/step-store.ts';
import { server } from './server.ts';
import * as s from './session.ts';

/** Pods with at most so many steps are loaded whole: their strip and their chart then tell everything. */
const WHOLE = 20_000;

/** Asks for the steps around the shown one, and for those in view, `from` to `to`. */
export function loadAround(from = s.index.value - 200, to = s.index.value + 400): void {
  for (const block of s.steps.store.take(from, to)) void loadBlock(block);
  if (s.total.value === 0) void loadBlock(0);
}

async function loadBlock(block: number): Promise<void> {
  const store = s.steps.store;
  const uid = s.uid.value;
  try {
    const page = await server.steps(uid, store.nextOf(block), (block + 1) * BLOCK - store.nextOf(block));
    if (store !== s.steps.store) return;
    batch(() => {
      setTotal(page.total);
      s.first.value = page.first;
      store.first = page.first;
      store.put(block, page.steps, s.index.value);
      for (const step of page.steps) store.settle(step);
      s.stepsVersion.value++;
      s.stepsError.value = '';
    });
    // A page may be short when its messages are large: the rest of the block comes with the next request.
    if (page.steps.length > 0) for (const b of store.take(block * BLOCK, block * BLOCK)) void loadBlock(b);
    loadRest();
  } catch (error) {
    store.release(block);
    if (store === s.steps.store) s.stepsError.value = messageOf(error);
  }
}

/** One block more of a pod that is to be loaded whole, nearest to the shown step first. */
function loadRest(): void {
  if (s.total.value > WHOLE) return;
  const blocks = Math.ceil(s.total.value / BLOCK);
  const here = Math.floor(Math.max(0, s.index.value) / BLOCK);
  for (let distance = 0; distance < blocks; distance++) {
    for (const block of [here - distance, here + distance]) {
      if (block < 0 || block >= blocks || s.steps.store.isTried(block)) continue;
      const missing = s.steps.store.take(block * BLOCK, block * BLOCK + BLOCK - 1);
      if (missing.length === 0) continue;
      for (const b of missing) void loadBlock(b);
      return;
    }
  }
}

/** A pod has more steps now. */
function setTotal(total: number): void {
  if (total <= s.total.value) return;
  s.total.value = total;
  s.steps.store.total = total;
}

/** The chosen pod went on while the page is open. */
export function onMoreSteps(total: number): void {
  if (total <= s.total.value) return;
  batch(() => {
    setTotal(total);
    s.stepsVersion.value++;
  });
  // The tail is loaded even when the past is shown: the strip and the list go on.
  for (const block of s.steps.store.take(total - 1, total - 1)) void loadBlock(block);
  if (s.following.value) loadAround();
}
