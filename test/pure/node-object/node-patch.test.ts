import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { initialNode } from '../../../machines/node-object/initial-node.ts';
import { nodePatch, nodeStatusHasChanged, semanticallyEqual } from '../../../machines/node-object/node-patch.ts';
import { setNodeStatus } from '../../../machines/node-object/set-node-status.ts';
import { strategicMergePatch } from '../../simulated/api/support/patches.ts';
import { configOf, factsOf } from './facts.ts';

const NOW = Date.UTC(2026, 0, 1);
const { node } = initialNode(configOf(), factsOf(), NOW);

test('only heartbeats: no change, and a patch with nothing else', () => {
  const later = setNodeStatus(node, configOf(), factsOf(), NOW + 60_000).node;
  assert.equal(nodeStatusHasChanged(node.status ?? {}, later.status ?? {}), false);
  const patch = nodePatch(node, later) as { status: { conditions: object[] } };
  assert.deepEqual(Object.keys(patch), ['status']);
  assert.deepEqual(Object.keys(patch.status).sort(), ['$setElementOrder/conditions', 'conditions']);
  for (const condition of patch.status.conditions) {
    assert.deepEqual(Object.keys(condition).sort(), ['lastHeartbeatTime', 'type']);
  }
  assert.equal(nodePatch(node, setNodeStatus(node, configOf(), factsOf(), NOW).node), undefined);
});

test('addresses are replaced as a whole, labels merged, gone keys are null, lists are values', () => {
  const before = {
    metadata: { labels: { a: '1', b: '2' }, annotations: { x: '1' } },
    status: {
      addresses: [{ type: 'InternalIP', address: '192.0.2.1' }],
      capacity: { cpu: '1', 'example.com/a': '1' },
      images: [{ names: ['a'], sizeBytes: 1 }],
    },
  };
  const after = {
    metadata: { labels: { a: '1', b: '3' } },
    status: {
      addresses: [{ type: 'InternalIP', address: '192.0.2.2' }],
      capacity: { cpu: '2' },
      images: [{ names: ['b'], sizeBytes: 1 }],
    },
  };
  assert.deepEqual(nodePatch(before, after), {
    metadata: { labels: { b: '3' }, annotations: { x: null } },
    status: {
      capacity: { cpu: '2', 'example.com/a': null },
      images: [{ names: ['b'], sizeBytes: 1 }],
      addresses: [{ type: 'InternalIP', address: '192.0.2.2' }, { $patch: 'replace' }],
    },
  });
});

test('nothing and empty are the same; the order of conditions does not matter', () => {
  assert.ok(semanticallyEqual({ a: [] }, {}));
  assert.ok(!semanticallyEqual({ a: '' }, {}));
  const status = node.status ?? {};
  const turned = { ...status, images: [], conditions: [...(status.conditions ?? [])].reverse() };
  assert.equal(nodeStatusHasChanged(status, turned), false);
  assert.equal(nodeStatusHasChanged(status, { ...status, volumesInUse: ['v'] }), true);
});

test('the patch, applied by a server, gives the wanted object', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const map = fc.dictionary(name, fc.constantFrom('1', '2'), { maxKeys: 3 });
  const condition = fc.record({
    type: name,
    status: fc.constantFrom('True', 'False'),
    reason: fc.constantFrom('x', 'y'),
  });
  const conditions = fc.uniqueArray(condition, { selector: (c) => c.type, maxLength: 3 });
  const address = fc.record({ type: fc.constantFrom('InternalIP', 'Hostname'), address: name });
  const image = fc.record({ names: fc.array(name, { maxLength: 2 }), sizeBytes: fc.nat(2) });
  const object = fc.record({
    metadata: fc.record({ labels: map, annotations: map }),
    status: fc.record({
      capacity: map,
      conditions,
      addresses: fc.array(address, { maxLength: 3 }),
      images: fc.array(image, { maxLength: 2 }),
    }),
  });
  fc.assert(
    fc.property(object, object, (before, wanted) => {
      // Conditions are only added and changed, never removed.
      const kept = before.status.conditions.filter((c) => !wanted.status.conditions.some((w) => w.type === c.type));
      const after = { ...wanted, status: { ...wanted.status, conditions: [...kept, ...wanted.status.conditions] } };
      const patch = nodePatch(before, after);
      const got = patch === undefined ? before : strategicMergePatch(before, patch);
      const sorted = (value: unknown) => {
        const copy = structuredClone(value) as typeof after;
        copy.status.conditions.sort((a, b) => a.type.localeCompare(b.type));
        return copy;
      };
      assert.ok(semanticallyEqual(sorted(got), sorted(after)), JSON.stringify({ patch, got, after }));
    }),
  );
});

test('an amount that the server writes otherwise is no change', () => {
  const before = { allocatable: { 'ephemeral-storage': '96636764k', cpu: '8', memory: '33554432Ki' } };
  const after = { allocatable: { 'ephemeral-storage': '96636764000', cpu: '8000m', memory: '32Gi' } };
  assert.equal(nodeStatusHasChanged(before, after), false);
  const other = { allocatable: { ...after.allocatable, 'ephemeral-storage': '96636764001' } };
  assert.equal(nodeStatusHasChanged(before, other), true);
  assert.equal(nodeStatusHasChanged({ capacity: { odd: 'x' } }, { capacity: { odd: 'y' } }), true);
});
