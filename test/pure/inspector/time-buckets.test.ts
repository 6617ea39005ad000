import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TimeBuckets } from '../../../actors/inspect/inspector/node-overview/time-buckets.ts';

const sums = (most: number) =>
  new TimeBuckets<{ sum: number }>(most, {
    make: () => ({ sum: 0 }),
    merge: (into, { sum }) => {
      into.sum += sum;
    },
  });
const total = (buckets: TimeBuckets<{ sum: number }>, from: number, to: number) => {
  let sum = 0;
  for (let n = buckets.numberOf(from); n <= buckets.numberOf(to); n++) sum += buckets.get(n)?.sum ?? 0;
  return sum;
};

test('the number of spans is bounded however much time is covered, and nothing is lost when they are put together', () => {
  const buckets = sums(50);
  const start = Date.parse('2026-03-01T09:00:00Z');
  let to = start;
  for (let i = 0; i < 2_000; i++) {
    to = start + i * i * 40;
    buckets.at(to).sum++;
    assert.ok(buckets.numberOf(to) - buckets.numberOf(start) < 50);
  }
  assert.equal(total(buckets, start, to), 2_000);
  assert.ok(to - start > 86_400_000 && buckets.width <= 3_600_000);
});

test('spans come out the same in whatever order their moments come', () => {
  const moments = Array.from({ length: 300 }, (_, i) => 1_000_000 + ((i * 7919) % 300) * 1_700);
  const told = (list: readonly number[]) => {
    const buckets = sums(20);
    for (const at of list) buckets.at(at).sum += at;
    const first = buckets.numberOf(1_000_000);
    return [buckets.width, Array.from({ length: 20 }, (_, i) => buckets.get(first + i)?.sum ?? 0)];
  };
  assert.deepEqual(told(moments), told(moments.toSorted((a, b) => a - b)));
  assert.deepEqual(told(moments), told(moments.toSorted((a, b) => b - a)));
});

test('what ended before a moment is taken out, oldest first; the rest stays', () => {
  const buckets = sums(100);
  for (let at = 0; at < 5_000; at += 100) buckets.at(at).sum = at;
  const taken = buckets.takeBefore(1_050).map(({ sum }) => sum);
  assert.deepEqual(
    taken,
    Array.from({ length: 10 }, (_, i) => i * 100),
  );
  assert.equal(buckets.get(buckets.numberOf(1_000))?.sum, 1_000);
  assert.equal(buckets.takeBefore(1_050).length, 0);
});
