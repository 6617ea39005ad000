/** Pods that are not judged when they come: they have an actor that starts nothing until they are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import { supervisorWith } from './supervisor-bench.ts';

const podOf = (uid: string, image = 'a'): Pod => ({
  metadata: { uid, name: uid, namespace: 'default' },
  spec: { containers: [{ name: 'c', image }] },
});
const hold = { message: 'device plugin of x/y has not come back', until: 9 };

function bench() {
  const told: PodMessage[] = [];
  const supervisor = supervisorWith({ post: (_shard, _uid, message) => void told.push(message) });
  supervisor.take({
    type: 'config',
    at: 1,
    update: { op: 'ADD', source: 'file', pods: [podOf('p')] },
    holds: { p: hold },
  });
  return { supervisor, told, types: () => told.splice(0).map(({ type }) => type) };
}

test('it is told with its start, again after its worker died, and no more once it is judged', () => {
  const { supervisor, told, types } = bench();
  const held = () => told.flatMap((message) => (message.type === 'pod.start' ? [message.hold] : []));
  assert.deepEqual(held(), [hold]);
  const [tracked] = supervisor.started();
  supervisor.take({ type: 'shardReplaced', at: 2, shard: tracked?.shard ?? 0 });
  assert.deepEqual(held(), [hold, hold]);
  types();
  supervisor.take({ type: 'admitted', at: 3, pod: podOf('p', 'b') });
  assert.deepEqual(types(), ['pod.update', 'pod.admit']);
  supervisor.take({ type: 'admitted', at: 4, pod: podOf('p', 'b') });
  assert.deepEqual(types(), [], 'it is judged once');
  supervisor.take({ type: 'shardReplaced', at: 5, shard: tracked?.shard ?? 0 });
  assert.deepEqual(held(), [undefined]);
});

test('one that is rejected is told why, also by its next start', () => {
  const { supervisor, told, types } = bench();
  const rejection = { reason: 'UnexpectedAdmissionError', message: 'no' };
  types();
  supervisor.take({ type: 'admitted', at: 3, pod: podOf('p'), rejection });
  const reasons = () => told.flatMap((message) => ('rejection' in message ? [message.rejection?.reason] : []));
  assert.deepEqual(reasons(), ['UnexpectedAdmissionError']);
  const [tracked] = supervisor.started();
  supervisor.take({ type: 'shardReplaced', at: 5, shard: tracked?.shard ?? 0 });
  assert.deepEqual(reasons(), ['UnexpectedAdmissionError', 'UnexpectedAdmissionError']);
});
