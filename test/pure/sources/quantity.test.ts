import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  isQuantity,
  parseBytes,
  parseCpuMilli,
  parseQuantity,
} from '../../../machines/values/quantity.ts';

test('cpu in thousandths, rounded up', () => {
  const table: [string, number][] = [
    ['1', 1000],
    ['100m', 100],
    ['0.5', 500],
    ['.5', 500],
    ['5.', 5000],
    ['1e3', 1_000_000],
    ['1E-3', 1],
    ['1n', 1],
    ['1500u', 2],
    ['+2', 2000],
    ['-1', -1000],
    ['0', 0],
  ];
  for (const [q, want] of table) assert.equal(parseCpuMilli(q), want, q);
});

test('bytes with every suffix', () => {
  const table: [string, number][] = [
    ['128974848', 128974848],
    ['129e6', 129e6],
    ['129M', 129e6],
    ['123Mi', 128974848],
    ['1k', 1000],
    ['1G', 1e9],
    ['1T', 1e12],
    ['1P', 1e15],
    ['1E', 1e18],
    ['1Ki', 1024],
    ['1Gi', 2 ** 30],
    ['1Ti', 2 ** 40],
    ['1Pi', 2 ** 50],
    ['1Ei', 2 ** 60],
    ['1.5Ki', 1536],
    ['1.1Ki', 1127],
    ['100m', 1],
  ];
  for (const [q, want] of table) assert.equal(parseBytes(q), want, q);
});

test('what is no quantity', () => {
  for (const q of ['', 'abc', '1 Gi', '1GI', '1ki', '--1', '1e', '1.2.3', 'Ki', '1mm', '0x10']) {
    assert.equal(isQuantity(q), false, q);
    assert.equal(parseQuantity(q), undefined, q);
    assert.throws(() => parseBytes(q), RangeError, q);
  }
});

test('huge exponents take no time and are cut', () => {
  assert.equal(parseQuantity('1e999999999'), (2n ** 63n - 1n) * 10n ** 9n);
  assert.equal(parseQuantity('1e-999999999'), 1n);
});

test('canonical form', () => {
  const table: [string, string][] = [
    ['1000m', '1'],
    ['0.5Gi', '512Mi'],
    ['1024Ki', '1Mi'],
    ['1000000', '1M'],
    ['0.5', '500m'],
    ['12e6', '12e6'],
    ['0Gi', '0'],
    ['-1500m', '-1500m'],
    ['1023Ki', '1023Ki'],
  ];
  for (const [q, want] of table) assert.equal(canonicalQuantity(q), want, q);
  assert.equal(addQuantities(['64Mi', '64Mi']), '128Mi');
  assert.equal(addQuantities(['250m', '1']), '1250m');
  assert.equal(compareQuantities('1Gi', '1G') > 0, true);
});

test('canonical form keeps the value', () => {
  const suffix = fc.constantFrom('', 'm', 'u', 'n', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3', 'E-2');
  fc.assert(
    fc.property(fc.integer({ min: -99999, max: 99999 }), fc.nat(999), suffix, (whole, fraction, unit) => {
      const q = `${whole}.${fraction}${unit}`;
      const canonical = canonicalQuantity(q);
      assert.equal(parseQuantity(canonical), parseQuantity(q));
      assert.equal(canonicalQuantity(canonical), canonical);
    }),
  );
});
