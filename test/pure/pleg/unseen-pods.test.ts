import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnseenPods } from '../../../actors/runtime/pleg/unseen-pods.ts';

test('one look that fails is not told, two in a row are, and then every ten seconds until one does', () => {
  const pods = new UnseenPods();
  const failed = (...seconds: number[]) => seconds.map((at) => pods.failed('a', at * 1_000));
  assert.deepEqual(failed(1, 2, 3, 11, 12, 13), [false, true, false, false, true, false]);
  assert.deepEqual([pods.failed('b', 13_000), pods.failed('b', 14_000)], [false, true], 'each for itself');
  pods.seen('a');
  assert.deepEqual(failed(14, 15), [false, true]);
});
