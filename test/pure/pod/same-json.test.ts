import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sameJson } from '../../../machines/pod/same-json.ts';

test('says the same as a comparison of the texts', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      assert.equal(sameJson(a, structuredClone(a)), true);
      assert.equal(sameJson(a, b), JSON.stringify(a) === JSON.stringify(b));
    }),
    { numRuns: 300, seed: 6 },
  );
});

test('the order of keys counts, and a shorter list is another one', () => {
  assert.equal(sameJson({ a: 1, b: 2 }, { b: 2, a: 1 }), false);
  assert.equal(sameJson([1], [1, 2]), false);
  assert.equal(sameJson({ 0: 'a' }, ['a']), false);
  assert.equal(sameJson({ a: null }, { a: undefined }), false);
});
