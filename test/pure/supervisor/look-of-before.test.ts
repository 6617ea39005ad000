import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { ObservedPod } from '../../../machines/protocol/observed.ts';
import { seenPod, supervisorWith } from './supervisor-bench.ts';

const pod: Pod = { metadata: { uid: 'u1', name: 'web', namespace: 'default' }, spec: { containers: [] } };
const seen = (at: number): ObservedPod => seenPod('u1', at);

function supervisorOfOne() {
  const asked: string[] = [];
  const starts: (number | undefined)[] = [];
  const supervisor = supervisorWith({
    held: () => false,
    observe: (uid) => asked.push(uid),
    post: (_shard, _uid, message) => {
      if (message.type === 'pod.start') starts.push(message.observed?.at);
    },
  });
  supervisor.take({ type: 'config', at: 1, update: { op: 'ADD', source: 'file', pods: [pod] } });
  supervisor.take({ type: 'sourcesReady', at: 1 });
  return { supervisor, asked, starts };
}

test('the actor of a replaced worker does not start with a look that began before', () => {
  const { supervisor, asked, starts } = supervisorOfOne();
  assert.deepEqual(starts, [undefined]);
  supervisor.take({ type: 'shardReplaced', at: 100, shard: 0 });
  assert.deepEqual(asked, ['u1']);
  // It took long, and does not have what the dead worker made last.
  supervisor.take({ type: 'seen', at: 110, observed: seen(90) });
  assert.deepEqual(starts, [undefined]);
  assert.deepEqual(asked, ['u1', 'u1'], 'it is looked at again');
  supervisor.take({ type: 'seen', at: 120, observed: seen(115) });
  assert.deepEqual(starts, [undefined, 115]);
});

test('a clock that is set back meanwhile holds it up no longer than one more look', () => {
  const { supervisor, starts } = supervisorOfOne();
  supervisor.take({ type: 'shardReplaced', at: 3_600_000, shard: 0 });
  supervisor.take({ type: 'seen', at: 1_000, observed: seen(990) });
  assert.deepEqual(starts, [undefined]);
  supervisor.take({ type: 'seen', at: 1_020, observed: seen(1_010) });
  assert.deepEqual(starts, [undefined, 1_010]);
});
