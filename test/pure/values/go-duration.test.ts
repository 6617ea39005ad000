import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { goDuration, parseGoDuration } from '../../../machines/values/go-duration.ts';

test('durations as Go reads them', () => {
  const cases: [string, number | undefined][] = [
    ['1m0s', 60_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['100ms', 100],
    ['0', 0],
    ['-1m0s', -60_000],
    ['.5s', 500],
    ['1us', 0.001],
    ['', undefined],
    ['5', undefined],
    ['5 s', undefined],
    ['1d', undefined],
    ['s', undefined],
    ['1.s', 1000],
  ];
  for (const [text, ms] of cases) assert.equal(parseGoDuration(text), ms, text);
});

test('durations as Go writes them', () => {
  const cases: [number, string][] = [
    [0, '0s'],
    [60_000, '1m0s'],
    [14_400_000, '4h0m0s'],
    [1500, '1.5s'],
    [100, '100ms'],
    [-60_000, '-1m0s'],
    [0.001, '1µs'],
    [86_461_001, '24h1m1.001s'],
  ];
  for (const [ms, text] of cases) assert.equal(goDuration(ms), text);
});

test('what is written is read back', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }), (ms) => {
      assert.equal(parseGoDuration(goDuration(ms)), ms);
    }),
  );
});
