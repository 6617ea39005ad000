import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodConfigUpdate } from '../../../machines/sources/pod-config.ts';
import type { SupervisorMessage } from '../../../machines/supervisor/supervisor-context.ts';
import { seenPod, supervisorWith } from './supervisor-bench.ts';

const pod = {
  metadata: { name: 'web', namespace: 'default', uid: 'u' },
  spec: { containers: [{ name: 'c', image: 'img:1' }] },
};
const config = (op: PodConfigUpdate['op']): SupervisorMessage => ({
  type: 'config',
  at: 1,
  update: { op, pods: [pod], source: 'file' },
});

/** A pod that ends, is to come back, and has a look in the cache that is from before its end. */
function ending() {
  const posted: string[] = [];
  const looks: string[] = [];
  const supervisor = supervisorWith({
    post: (_shard, _uid, message) =>
      void posted.push(message.type === 'pod.start' ? `start ${message.observed?.at ?? 'unseen'}` : message.type),
    held: () => true,
    observe: (uid) => looks.push(uid),
  });
  supervisor.take({ type: 'sourcesReady', at: 1 });
  supervisor.take({ type: 'seen', at: 1, observed: seenPod('u', 1) });
  supervisor.take(config('ADD'));
  supervisor.take({ type: 'finished', at: 1, uid: 'u' });
  supervisor.take({ type: 'seen', at: 2, observed: seenPod('u', 2) });
  supervisor.take(config('REMOVE'));
  supervisor.take(config('ADD'));
  posted.length = 0;
  looks.length = 0;
  return { supervisor, posted, looks };
}

test('the next life of a pod that comes back begins by a look from after the end of the one before', () => {
  const { supervisor, posted, looks } = ending();
  supervisor.take({ type: 'finished', at: 4, uid: 'u' });
  assert.deepEqual([posted, looks], [[], ['u']]);
  supervisor.take({ type: 'seen', at: 5, observed: seenPod('u', 3) });
  assert.deepEqual([posted, looks], [[], ['u', 'u']], 'this look began too early');
  supervisor.take({ type: 'seen', at: 6, observed: seenPod('u', 5) });
  assert.equal(posted[0], 'start 5');
});

test('a pod that was to come back and was given up is looked at: what it left has to go', () => {
  const { supervisor, posted, looks } = ending();
  supervisor.take(config('REMOVE'));
  posted.length = 0;
  supervisor.take({ type: 'finished', at: 4, uid: 'u' });
  assert.deepEqual([posted, looks], [[], ['u']]);
  supervisor.take({ type: 'seen', at: 6, observed: seenPod('u', 5) });
  assert.deepEqual(posted, ['start 5'], 'as an orphan');
  assert.ok(supervisor.tracks('u'));
});
