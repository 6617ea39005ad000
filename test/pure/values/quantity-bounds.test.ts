import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalQuantity, parseQuantity } from '../../../machines/values/quantity.ts';

const NANO = 1_000_000_000n;

test('digits without end count as they should: zeros not at all, the others only for rounding', () => {
  const zeros = '0'.repeat(100_000);
  assert.equal(parseQuantity(`${zeros}5`), 5n * NANO);
  assert.equal(parseQuantity(`5.${zeros}`), 5n * NANO);
  assert.equal(parseQuantity(`5.${zeros}1`), 5n * NANO + 1n);
  assert.equal(parseQuantity(`-5.${zeros}1`), -5n * NANO - 1n);
  assert.equal(parseQuantity(`0.${zeros}1`), 1n);
  assert.equal(parseQuantity(`0.${zeros}1e100009`), 100_000_000n * NANO);
  assert.equal(parseQuantity(`1${zeros}e-100000`), NANO);
  assert.equal(parseQuantity(`1${zeros}`), (2n ** 63n - 1n) * NANO);
  assert.equal(parseQuantity(`1${zeros}Ki`), (2n ** 63n - 1n) * NANO);
  assert.equal(parseQuantity(`1.${zeros}1Ki`), 1024n * NANO + 1n);
  assert.equal(parseQuantity(`0.${zeros}`), 0n);
  assert.equal(canonicalQuantity(`1.5${zeros}Gi`), '1536Mi');
});
