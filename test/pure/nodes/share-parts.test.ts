import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeptLooks } from '../../../actors/node/fleet/kept-looks.ts';
import { shareParts } from '../../../actors/node/fleet/share-parts.ts';
import type { ObservedPod } from '../../../machines/protocol/observed.ts';

const pod = (more: object = {}) => ({
  metadata: { name: 'a', labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', args: ['x', 'y'] }] },
  ...more,
});

test('parts that are equal are those of the one before, those that are not stay', () => {
  const known = { ...pod(), status: { phase: 'Pending', conditions: [{ type: 'Ready' }] } };
  const fresh = { ...pod(), status: { phase: 'Running', conditions: [{ type: 'Ready' }] } };
  const said = structuredClone(fresh);
  assert.equal(shareParts(fresh, known), false);
  assert.equal(fresh.spec, known.spec);
  assert.equal(fresh.metadata, known.metadata);
  assert.notEqual(fresh.status, known.status);
  assert.equal(fresh.status.conditions, known.status.conditions);
  assert.deepEqual(fresh, said);
  assert.equal(known.status.phase, 'Pending');
});

test('what has a key more or less, another order or another kind is not the same', () => {
  const cases: [unknown, unknown, boolean][] = [
    [{ a: { b: 1 } }, { a: { b: 1 } }, true],
    [{ a: { b: 1 } }, { a: { b: 1, c: 2 } }, false],
    [{ a: { b: 1, c: 2 } }, { a: { b: 1 } }, false],
    [{ a: [1, 2] }, { a: [2, 1] }, false],
    [{ a: [1] }, { a: [1, 2] }, false],
    [{ a: [] }, { a: {} }, false],
    [{ a: null }, { a: {} }, false],
    [{ a: undefined }, { b: undefined }, false],
    [JSON.parse('{"__proto__":{"x":1}}') as unknown, { x: 1 }, false],
    [{ toString: 'a' }, {}, false],
    [new Uint8Array([1]), new Uint8Array([1]), false],
  ];
  for (const [fresh, known, same] of cases) {
    const said = structuredClone(fresh);
    assert.equal(shareParts(fresh, known), same);
    assert.deepEqual(fresh, said);
  }
});

test('any two objects: both say what they said, and it is the same just when they say the same', () => {
  let seed = 7;
  const draw = (below: number): number => {
    seed = (Math.imul(seed, 48271) >>> 0) % 2_147_483_647;
    return seed % below;
  };
  const any = (depth: number): unknown => {
    const sort = draw(depth > 0 ? 5 : 3);
    if (sort === 0) return draw(2);
    if (sort === 1) return 'ab'.slice(draw(2));
    if (sort === 2) return null;
    const size = draw(3);
    if (sort === 3) return Array.from({ length: size }, () => any(depth - 1));
    return Object.fromEntries(Array.from({ length: size }, (_, i) => ['xyz'[(i + draw(2)) % 3], any(depth - 1)]));
  };
  let alike = 0;
  for (let i = 0; i < 5_000; i++) {
    const [fresh, known] = [any(4), any(4)];
    const before = structuredClone([fresh, known]);
    const same = shareParts(fresh, known);
    if (same) alike++;
    assert.deepEqual([fresh, known], before);
    let equal = true;
    try {
      assert.deepStrictEqual(fresh, known);
    } catch {
      equal = false;
    }
    assert.equal(same, equal);
  }
  assert.ok(alike > 50);
});

test('looks at a pod keep what has not changed, and nothing of a pod that is gone', () => {
  const looks = new KeptLooks();
  const look = (at: number, state: string): ObservedPod =>
    ({ uid: 'u', name: 'a', namespace: 'n', at, sandboxes: [{ id: 's' }], containers: [{ id: 'c', state }] }) as never;
  const first = looks.shared(look(1, 'running'));
  const second = looks.shared(look(2, 'running'));
  assert.equal(second.at, 2);
  assert.equal(second.containers, first.containers);
  const third = looks.shared(look(3, 'exited'));
  assert.equal(third.sandboxes, first.sandboxes);
  assert.equal(third.containers[0]?.state, 'exited');
  assert.equal(first.containers[0]?.state, 'running');
  looks.shared({ ...look(4, 'exited'), sandboxes: [], containers: [] });
  assert.equal(looks.size, 0);
});
