/** Pods of which a checkpoint says that they have devices or CPUs, and that are gone when an agent begins. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LeftBehind } from '../../../actors/resources/admission/left-behind.ts';

test('who is known to neither the sources nor the runtime is told once', () => {
  const left = new LeftBehind();
  assert.equal(left.any, false);
  left.begin(['known', 'gone', 'listed']);
  assert.deepEqual(left.take(['known'], new Set(['known', 'listed'])), ['gone']);
  assert.equal(left.any, true, 'of one the runtime has something, and nobody has missed it yet');
  assert.deepEqual(left.take(['known'], new Set(['known'])), ['listed']);
  assert.equal(left.any, false);
});

test('one that was given up and still ends tells so itself', () => {
  const left = new LeftBehind();
  left.begin(['orphan']);
  assert.deepEqual(left.take([], new Set(['orphan'])), []);
  assert.deepEqual(left.take(['orphan'], new Set(['orphan'])), []);
  assert.equal(left.any, false);
});
