import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diffTrees, pathKey, valueBefore } from '../../../actors/inspect/inspector-page/model/diff.ts';

const changes = (before: unknown, after: unknown) =>
  Object.fromEntries([...diffTrees(before, after)].map(([key, change]) => [key.replaceAll('\u0000', '/'), change]));

test('added, removed and changed places are marked, and the way to them', () => {
  assert.deepEqual(changes({ a: { b: 1, c: 2 }, d: 3 }, { a: { b: 5, e: 1 }, d: 3 }), {
    '': 'inside',
    a: 'inside',
    'a/b': 'changed',
    'a/c': 'removed',
    'a/e': 'added',
  });
});

test('equal trees have no changes, whatever the order of their keys', () => {
  assert.deepEqual(changes({ a: [1, { b: null }], c: '' }, { c: '', a: [1, { b: null }] }), {});
});

test('items of a list are paired by name: one put in front marks only itself', () => {
  const before = [{ name: 'web', x: 1 }, { name: 'old' }];
  const after = [{ name: 'init' }, { name: 'web', x: 2 }];
  assert.deepEqual(changes(before, after), {
    '': 'inside',
    '0': 'added',
    '1': 'inside',
    '1/x': 'changed',
    '-1': 'removed',
  });
  assert.equal(valueBefore(before, after, ['1', 'x']), 1);
  assert.deepEqual(valueBefore(before, after, ['-1']), { name: 'old' });
});

test('items without names are compared by position', () => {
  assert.deepEqual(changes(['a', 'b'], ['a', 'c', 'd']), { '': 'inside', '1': 'changed', '2': 'added' });
});

test('a value that becomes a list or null is a change of itself', () => {
  assert.deepEqual(changes({ a: {} }, { a: [] }), { '': 'inside', a: 'changed' });
  assert.deepEqual(changes({ a: { b: 1 } }, { a: null }), { '': 'inside', a: 'changed' });
});

test('keys with separators of other notations are no trouble', () => {
  const found = diffTrees({ 'a/b.c': 1 }, { 'a/b.c': 2 });
  assert.equal(found.get(pathKey(['a/b.c'])), 'changed');
  assert.equal(valueBefore({ 'a/b.c': 1 }, { 'a/b.c': 2 }, ['a/b.c']), 1);
});
