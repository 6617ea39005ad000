import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StateHistory } from '../../../actors/inspect/inspector/inspector-api.ts';
import { areaPaths, bandCounts, mostPods } from '../../../actors/inspect/inspector-page/model/fleet-areas.ts';
import { spanAt, spanEnd, spanEnds } from '../../../actors/inspect/inspector-page/model/span-place.ts';
import { timeTicks } from '../../../actors/inspect/inspector-page/model/time-ticks.ts';

const history: StateHistory = {
  ...{ start: 10_000, width: 1_000, length: 4 },
  states: [
    { state: 'syncing.crashLoopBackOff', counts: [0, 0, 1, 1] },
    { state: 'syncing.imageBackOff', counts: [0, 1, 1, 0] },
    { state: 'syncing.running', counts: [999, 998, 997, 998] },
    { state: 'terminating.stoppingContainers', counts: [0, 0, 0, 0] },
  ],
};

/** Corners of a path of lines along the axes. */
function corners(d: string): [number, number][] {
  const points: [number, number][] = [];
  let [x, y] = [0, 0];
  for (const [, command, rest = ''] of d.matchAll(/([MHVZ])([^MHVZ]*)/g)) {
    const numbers = rest.split(' ').map(Number);
    if (command === 'M') [x = 0, y = 0] = numbers;
    else if (command === 'H') x = numbers[0] ?? 0;
    else if (command === 'V') y = numbers[0] ?? 0;
    else continue;
    points.push([x, y]);
  }
  return points;
}

/** Height of the area over an x. */
function heightAt(d: string, at: number): number {
  const crossed: number[] = [];
  const points = corners(d);
  for (const [i, [x, y]] of points.entries()) {
    const [toX, toY] = points[i + 1] ?? points[0] ?? [0, 0];
    if (y === toY && Math.min(x, toX) <= at && at < Math.max(x, toX)) crossed.push(y);
  }
  return Math.max(...crossed) - Math.min(...crossed);
}

test('states of one tone are one band; the most pods at once are those of all bands', () => {
  const counts = bandCounts(history);
  assert.deepEqual(counts.fail, [0, 1, 2, 1]);
  assert.deepEqual(counts.stop, [0, 0, 0, 0]);
  assert.equal(mostPods(counts, 4), 999);
});

test('one failing pod of a thousand is still seen, and an empty band is not drawn', () => {
  const paths = areaPaths(bandCounts(history), [100, 200, 300, 400], { height: 100, thin: 2 });
  assert.deepEqual([...paths.keys()], ['ok', 'fail']);
  const fail = paths.get('fail') ?? '';
  assert.equal(heightAt(fail, 50), 0);
  assert.equal(heightAt(fail, 150), 2);
  assert.equal(heightAt(fail, 250), 2);
  const ok = paths.get('ok') ?? '';
  assert.ok(heightAt(ok, 50) > 85 && heightAt(ok, 50) <= 98);
  for (const [, y] of [...corners(ok), ...corners(fail)]) assert.ok(y >= 0 && y <= 100, String(y));
});

test('bands lie on each other: their heights add up in proportion', () => {
  const even: StateHistory = {
    ...{ start: 0, width: 10, length: 2 },
    states: [
      { state: 'syncing.running', counts: [30, 10] },
      { state: 'syncing.imageBackOff', counts: [10, 30] },
    ],
  };
  const paths = areaPaths(bandCounts(even), [1, 2], { height: 40, thin: 0 });
  const [ok = '', fail = ''] = [paths.get('ok'), paths.get('fail')];
  assert.deepEqual([heightAt(ok, 0.5), heightAt(ok, 1.5), heightAt(fail, 0.5), heightAt(fail, 1.5)], [30, 10, 10, 30]);
});

test('a moment and its span: the newest is in the last, others are where they lie, ends are before the next begins', () => {
  assert.equal(spanAt(history, null), 3);
  for (let span = 0; span < 4; span++) {
    assert.equal(spanAt(history, spanEnd(history, span)), span);
    assert.equal(spanAt(history, spanEnd(history, span) + 1), Math.min(3, span + 1));
  }
  assert.deepEqual([spanAt(history, 0), spanAt(history, 99_999)], [0, 3]);
  assert.deepEqual(spanEnds(history, 10_500, 13_500, 300), [50, 150, 250, 300]);
});

test('ticks of time are round local moments, as many as fit', () => {
  const nine = Date.parse('2026-03-01T09:00:00Z');
  assert.deepEqual(
    timeTicks(nine + 1, nine + 61_000, 6, 0).map(({ text }) => text),
    ['09:00:15', '09:00:30', '09:00:45', '09:01:00'],
  );
  // An hour and a half east of UTC.
  assert.deepEqual(
    timeTicks(nine, nine + 4 * 3_600_000, 5, -90).map(({ text }) => text),
    ['11:00', '12:00', '13:00', '14:00'],
  );
  assert.deepEqual(
    timeTicks(nine, nine + 3 * 86_400_000, 4, 0).map(({ text }) => text),
    ['03-02', '03-03', '03-04'],
  );
  assert.ok(timeTicks(0, 56 * 365 * 86_400_000, 7, 0).length <= 8);
  assert.deepEqual(timeTicks(nine, nine, 5, 0), []);
});
