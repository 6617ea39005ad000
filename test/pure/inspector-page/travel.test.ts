import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StepLine } from '../../../actors/inspect/inspector/inspector-api.ts';
import { lastWay, waysTaken } from '../../../actors/inspect/inspector-page/model/journey.ts';
import { formatMoment, parseMoment } from '../../../actors/inspect/inspector-page/model/moment.ts';
import { advancePlay, LONGEST_PAUSE_MS, nextSpeed } from '../../../actors/inspect/inspector-page/model/playback.ts';
import { retryDelay } from '../../../actors/inspect/inspector-page/model/retry-delay.ts';
import { RowHeights, rowWindow, scrollFor } from '../../../actors/inspect/inspector-page/model/row-window.ts';
import { BLOCK, StepStore } from '../../../actors/inspect/inspector-page/model/step-store.ts';

const step = (index: number, before = 'a', after = 'a'): StepLine => ({
  index,
  at: index * 100,
  message: 'timer',
  from: 'timer',
  summary: '',
  before,
  after,
  effects: [],
});
const steps = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => step(from + i));

test('an address names a moment and is read back', () => {
  const moment = { uid: 'a b/ü&=', step: 12, view: 'sequence', chart: 'container/web' } as const;
  assert.deepEqual(parseMoment(formatMoment(moment)), moment);
  assert.deepEqual(parseMoment(formatMoment({ ...moment, step: null, view: 'timeline', chart: 'pod' })), {
    uid: 'a b/ü&=',
    step: null,
    view: 'timeline',
    chart: 'pod',
  });
});

test('the node has an address of its own, with a moment; none at all names it, too', () => {
  assert.equal(formatMoment(parseMoment('')), '#node');
  assert.deepEqual(parseMoment('#node'), parseMoment(''));
  const then = parseMoment('#node&at=1772355781000');
  assert.deepEqual([then.uid, then.at], ['', 1_772_355_781_000]);
  assert.equal(formatMoment(then), '#node&at=1772355781000');
  assert.equal(parseMoment('#node&at=soon').at, undefined);
  assert.equal(parseMoment('#pod=x&at=5').at, undefined, 'a moment of a pod is a step');
});

test('an address with nonsense in it is read as far as it makes sense', () => {
  assert.deepEqual(parseMoment('#pod=x&step=-1&view=<script>'), {
    uid: 'x',
    step: null,
    view: 'timeline',
    chart: 'pod',
  });
  assert.equal(parseMoment('#pod=x&step=99999999999999').step, null);
});

test('a playback takes as long as recorded, divided by the speed', () => {
  const timeOf = (i: number) => [0, 100, 150, 1150][i];
  assert.deepEqual(advancePlay({ index: 0, spent: 0 }, 60, 1, 3, timeOf), { index: 0, spent: 60 });
  assert.deepEqual(advancePlay({ index: 0, spent: 60 }, 60, 1, 3, timeOf), { index: 1, spent: 20 });
  assert.deepEqual(advancePlay({ index: 0, spent: 0 }, 16, 100, 3, timeOf), { index: 3, spent: 0 });
});

test('an idle hour is cut short; a step that is not loaded is waited for', () => {
  const hour = (i: number) => i * 3_600_000;
  assert.equal(advancePlay({ index: 0, spent: 0 }, LONGEST_PAUSE_MS, 1, 5, hour).index, 1);
  assert.equal(advancePlay({ index: 0, spent: 0 }, LONGEST_PAUSE_MS - 1, 1, 5, hour).index, 0);
  assert.equal(advancePlay({ index: 0, spent: 0 }, LONGEST_PAUSE_MS, 1000, 5, hour).index, 1);
  assert.deepEqual(
    advancePlay({ index: 2, spent: 5 }, 100, 1, 5, (i) => (i < 3 ? i : undefined)),
    { index: 2, spent: 0 },
  );
});

test('speeds go from 1 to 1000 and stop there', () => {
  assert.equal(nextSpeed(1, -1), 1);
  assert.equal(nextSpeed(1, 1), 2);
  assert.equal(nextSpeed(1000, 1), 1000);
  assert.equal(nextSpeed(500, 1), 1000);
});

test('ways are those taken up to the shown step', () => {
  const lines = [step(0, 'a', 'b'), step(1, 'b', 'b'), step(2, 'b', 'a'), step(3, 'a', 'b')];
  const until2 = waysTaken(lines, 2);
  assert.deepEqual([...until2.keys()], ['a>b', 'b>a']);
  assert.equal(lastWay(until2)?.to, 'a');
  const until3 = waysTaken(lines, 3);
  assert.equal(until3.get('a>b')?.times, 2);
  assert.equal(lastWay(until3)?.last, 3);
});

test('the store asks once for what it lacks and goes on where a short page ended', () => {
  const store = new StepStore();
  store.total = 2 * BLOCK + 10;
  assert.deepEqual(store.take(BLOCK - 5, BLOCK + 5), [0, 1]);
  assert.deepEqual(store.take(0, BLOCK + 5), []);
  store.put(0, steps(0, 400), 0);
  assert.equal(store.nextOf(0), 400);
  assert.deepEqual(store.take(0, 1), [0]);
  store.put(0, steps(400, BLOCK), 0);
  assert.deepEqual(store.take(0, BLOCK - 1), []);
  assert.equal(store.at(999)?.index, 999);
  assert.equal(store.at(BLOCK), undefined);
  assert.equal(store.isTried(0), true);
});

test('the store forgets what is far from the shown step, and asks again when it is wanted', () => {
  const store = new StepStore(2);
  store.total = 5 * BLOCK;
  for (const b of [0, 1, 4]) {
    store.take(b * BLOCK, b * BLOCK);
    store.put(b, steps(b * BLOCK, (b + 1) * BLOCK), 4 * BLOCK);
  }
  assert.equal(store.at(0), undefined);
  assert.equal(store.at(4 * BLOCK)?.index, 4 * BLOCK);
  assert.deepEqual(store.take(0, 0), [0]);
});

test('steps before the journal begins are not asked for', () => {
  const store = new StepStore();
  store.total = BLOCK + 10;
  store.first = BLOCK - 3;
  assert.deepEqual(
    store.take(0, 20),
    [0].filter(() => false),
  );
  assert.deepEqual(store.take(0, BLOCK), [0, 1]);
  store.put(0, steps(BLOCK - 3, BLOCK), 0);
  assert.equal(store.at(BLOCK - 3)?.index, BLOCK - 3);
  assert.equal(store.isTried(0), true);
});

test('an outcome that comes later settles its effect', () => {
  const store = new StepStore();
  store.total = 2;
  const asking = { ...step(0), effects: [{ type: 'cri.StartContainer', key: 'k', to: 'cri', summary: '' } as const] };
  store.put(0, [asking], 0);
  store.settle({ ...step(1), answers: { index: 0, key: 'k', ms: 5, failed: false, error: '' } });
  assert.equal(store.at(0)?.effects[0]?.answeredBy, 1);
});

test('rows in view, and the shortest scroll to a row', () => {
  assert.deepEqual(rowWindow(1000, 200, 20, 5000, 2), { start: 48, end: 62 });
  assert.deepEqual(rowWindow(0, 200, 20, 3, 2), { start: 0, end: 3 });
  assert.equal(scrollFor(100, 200, 150, 170), 100);
  assert.equal(scrollFor(100, 200, 80, 100), 80);
  assert.equal(scrollFor(100, 200, 300, 320), 120);
  assert.equal(scrollFor(0, 200, 10_000, 10_020), 9910);
});

test('heights of unequal rows: known ones count, others are guessed', () => {
  const heights = new RowHeights(3, 10);
  heights.measure(7, (block) => (block === 1 ? [20, 30, 40] : null));
  assert.equal(heights.total, 30 + 90 + 10);
  assert.equal(heights.topOf(2), 20);
  assert.equal(heights.topOf(4), 50);
  assert.equal(heights.topOf(6), 120);
  assert.equal(heights.topOf(99), 130);
  assert.deepEqual(
    [0, 29, 30, 50, 79, 80, 500].map((y) => heights.rowAt(y)),
    [0, 2, 3, 4, 4, 5, 6],
  );
});

test('the pause before a new try grows and has an end', () => {
  assert.equal(retryDelay(0, 0), 500);
  assert.equal(retryDelay(3, 0), 4000);
  assert.equal(retryDelay(50, 0), 15_000);
  assert.equal(retryDelay(50, 1), 12_000);
});
