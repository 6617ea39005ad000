import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { mirrorPlan } from '../../../machines/mirror-pods/mirror-plan.ts';
import type { KnownMirror, StaticLife } from '../../../machines/mirror-pods/mirror-plan.ts';
import { mirrorPodOf } from '../../../machines/mirror-pods/mirror-pod.ts';

const pod = (uid: string): Pod => ({
  metadata: {
    name: 'p-node1',
    namespace: 'n',
    uid,
    labels: { app: 'x' },
    annotations: { 'kubernetes.io/config.hash': uid, 'kubernetes.io/config.source': 'file' },
  },
  spec: { nodeName: 'node1', containers: [{ name: 'a' }] },
  status: { phase: 'Pending' },
});
const mirror = (hash: string, deleting = false): KnownMirror => ({
  uid: `m-${hash}`,
  fullName: 'n/p-node1',
  hash,
  deleting,
});

const rows: [string, Pod[], KnownMirror[], Record<string, StaticLife>, string, boolean?][] = [
  ['a new static pod', [pod('h1')], [], {}, 'create h1'],
  ['all well', [pod('h1')], [mirror('h1')], {}, ''],
  ['another version', [pod('h2')], [mirror('h1')], {}, 'delete m-h1'],
  ['another version, the old one still ends', [pod('h2')], [mirror('h1')], { h1: 'ending' }, 'waits'],
  ['marked for deletion', [pod('h1')], [mirror('h1', true)], {}, 'delete m-h1'],
  ['no static pod', [], [mirror('h1')], {}, 'delete m-h1'],
  ['no static pod, its own still ends', [], [mirror('h1')], { h1: 'ending' }, 'waits'],
  ['no static pod, but a source has not spoken', [], [mirror('h1')], {}, '', false],
  ['it ends: its mirror pod stays', [pod('h1')], [mirror('h1')], { h1: 'ending' }, ''],
  ['it ends: none is made', [pod('h1')], [], { h1: 'ending' }, 'unshown'],
  ['it has ended: none is made, unless it lives anew', [pod('h1')], [], { h1: 'ended' }, 'unshown'],
  ['it has ended: its mirror pod stays', [pod('h1')], [mirror('h1')], { h1: 'ended' }, ''],
];
for (const [name, statics, mirrors, lives, expected, complete = true] of rows) {
  test(`mirrorPlan: ${name}`, () => {
    const { actions, waits, unshown } = mirrorPlan({ statics, mirrors, complete, lifeOf: (uid) => lives[uid] ?? null });
    const action = actions.get('n/p-node1');
    const done =
      action === undefined
        ? ''
        : action.do === 'create'
          ? `create ${action.pod.metadata?.uid ?? ''}`
          : `delete ${action.mirror.uid}`;
    assert.equal(done || (waits ? 'waits' : unshown ? 'unshown' : ''), expected);
    assert.ok(actions.size <= 1);
  });
}

test('a mirror pod is owned by the node, carries the hash, and has neither UID nor status', () => {
  assert.deepEqual(mirrorPodOf(pod('h1'), { name: 'node1', uid: 'nu' }), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'p-node1',
      namespace: 'n',
      labels: { app: 'x' },
      annotations: {
        'kubernetes.io/config.hash': 'h1',
        'kubernetes.io/config.source': 'file',
        'kubernetes.io/config.mirror': 'h1',
      },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node1', uid: 'nu', controller: true }],
    },
    spec: { nodeName: 'node1', containers: [{ name: 'a' }] },
  });
});

test('finalizers of the manifest are those of the mirror pod, too', () => {
  const { metadata } = pod('h1');
  const made = mirrorPodOf(
    { ...pod('h1'), metadata: { ...metadata, finalizers: ['a.b/c'] } },
    { name: 'n', uid: 'nu' },
  );
  assert.deepEqual(made.metadata?.finalizers, ['a.b/c']);
});
