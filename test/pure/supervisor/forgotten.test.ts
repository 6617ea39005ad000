import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyMemory } from '../../../machines/pod/pod-context.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { PodConfigUpdate } from '../../../machines/sources/pod-config.ts';
import { supervisorWith } from './supervisor-bench.ts';

const podOf = (uid: string): Pod => ({ metadata: { uid, name: uid, namespace: 'default' }, spec: { containers: [] } });

test('of pods that are gone nothing stays, and what an earlier agent remembered of one is not given to the next of its UID', () => {
  const starts: PodMessage[] = [];
  const supervisor = supervisorWith({
    remembered: (uid) => (uid === 'known' ? emptyMemory : null),
    post: (_shard, _uid, message) => {
      if (message.type === 'pod.start') starts.push(message);
    },
  });
  const config = (op: PodConfigUpdate['op'], uid: string) =>
    supervisor.take({ type: 'config', at: 1, update: { op, source: 'file', pods: [podOf(uid)] } });
  const passes = (uid: string) => {
    config('ADD', uid);
    config('REMOVE', uid);
    supervisor.take({ type: 'finished', at: 2, uid });
  };
  supervisor.take({ type: 'sourcesReady', at: 1 });
  passes('known');
  for (let i = 0; i < 500; i++) passes(`pod-${i}`);
  config('ADD', 'known');
  const memories = starts.flatMap((start) => (start.type === 'pod.start' ? [start.memory] : []));
  assert.equal(memories.length, 502);
  assert.deepEqual([memories[0], memories.at(-1)], [emptyMemory, null]);
  // All that it holds, but for the pod that is there now.
  const held = JSON.stringify(supervisor, (key, value: unknown) => {
    if (key === 'options' || key === 'snapshot') return undefined;
    return value instanceof Set || value instanceof Map ? [...value] : value;
  });
  assert.doesNotMatch(held, /pod-\d/);
});
