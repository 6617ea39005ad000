import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BackOff, backOffMs, spread } from '../../../machines/values/back-off.ts';

const range = { firstMs: 100, maxMs: 1_500 };

test('waits double from the first to the longest, and start anew when all went well', () => {
  const backOff = new BackOff(range);
  const next = (times: number) => Array.from({ length: times }, () => backOff.next());
  assert.deepEqual(next(6), [100, 200, 400, 800, 1_500, 1_500]);
  backOff.reset();
  assert.deepEqual(next(2), [100, 200]);
});

test('no failure waits as the first one, and however many stay a number', () => {
  assert.equal(backOffMs(0, range), 100);
  assert.equal(backOffMs(10_000, range), 1_500);
  assert.equal(backOffMs(10_000, { firstMs: 0, maxMs: 5 }), 0);
});

test('property: a spread wait lies within its share on both sides', () => {
  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.nat(100_000), fc.constantFrom(0, 0.25, 0.5), chance, (ms, share, drawn) => {
      const waits = spread(ms, share, drawn);
      assert.ok(waits >= ms * (1 - share) - 1e-6 && waits <= ms * (1 + share) + 1e-6);
    }),
  );
  assert.equal(spread(100, 0.5, 0), 50);
  assert.equal(spread(100, 0.5, 0.5), 100);
});
