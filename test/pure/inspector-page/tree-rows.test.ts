import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diffTrees, pathKey } from '../../../actors/inspect/inspector-page/model/diff.ts';
import type { TreeInput } from '../../../actors/inspect/inspector-page/model/tree-rows.ts';
import { treeRows } from '../../../actors/inspect/inspector-page/model/tree-rows.ts';

const BEFORE = { list: [{ name: 'a', on: false }], same: { deep: { x: 1 } }, gone: 'old' };
const AFTER = { list: [{ name: 'a', on: true }], same: { deep: { x: 1 } } };

function rowsOf(wishes: Partial<TreeInput> = {}) {
  return treeRows({
    before: BEFORE,
    after: AFTER,
    changes: diffTrees(BEFORE, AFTER),
    toggled: new Map(),
    search: '',
    onlyChanged: false,
    ...wishes,
  });
}
const shape = (rows: ReturnType<typeof rowsOf>) =>
  rows.map((r) =>
    `${' '.repeat(r.depth)}${r.label}${r.branch ? (r.open ? ' v' : ' >') : ''} ${r.change ?? ''}`.trimEnd(),
  );

test('only the way to what changed is open', () => {
  assert.deepEqual(shape(rowsOf()), [
    'list v inside',
    ' 0 v inside',
    '  name',
    '  on changed',
    'same >',
    'gone removed',
  ]);
});

test('a changed leaf has its old value, a removed one its last', () => {
  const rows = rowsOf();
  assert.equal(rows.find((r) => r.label === 'on')?.was, false);
  assert.equal(rows.find((r) => r.label === 'gone')?.value, 'old');
});

test('what was toggled by hand stays so', () => {
  const toggled = new Map([
    ['list', false],
    ['same', true],
    [pathKey(['same', 'deep']), true],
  ]);
  assert.deepEqual(shape(rowsOf({ toggled })), ['list > inside', 'same v', ' deep v', '  x', 'gone removed']);
});

test('a search shows hits and the way to them, in keys and in values', () => {
  assert.deepEqual(shape(rowsOf({ search: 'DEEP' })), ['same v', ' deep >']);
  const hits = rowsOf({ search: 'true' });
  assert.deepEqual(
    hits.filter((r) => r.hit).map((r) => r.label),
    ['on'],
  );
});

test('only changed places on demand', () => {
  assert.deepEqual(shape(rowsOf({ onlyChanged: true })), [
    'list v inside',
    ' 0 v inside',
    '  on changed',
    'gone removed',
  ]);
});

test('a subtree that was added is marked all through', () => {
  const after = { ...AFTER, fresh: { a: { b: 1 } } };
  const rows = rowsOf({ after, changes: diffTrees(BEFORE, after), toggled: new Map([['fresh', true]]) });
  assert.deepEqual(shape(rows).slice(-3), ['fresh v added', ' a > added', 'gone removed']);
});
