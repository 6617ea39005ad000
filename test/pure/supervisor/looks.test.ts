import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { ObservedPod } from '../../../machines/protocol/observed.ts';
import type { SupervisorMessage } from '../../../machines/supervisor/supervisor-context.ts';
import type { PodConfigUpdate } from '../../../machines/sources/pod-config.ts';
import { seenPod, supervisorWith } from './supervisor-bench.ts';

function supervisorThatHolds(held: string[]) {
  const asked: string[] = [];
  const posted: string[] = [];
  const supervisor = supervisorWith({
    held: (uid) => held.includes(uid),
    observe: (uid) => asked.push(uid),
    post: (_shard, uid, { type }) => posted.push(`${uid} ${type}`),
  });
  return { supervisor, asked, posted };
}

/** All have the same full name, so that one waits for another. */
const pod = (uid: string): Pod => ({ metadata: { uid, name: 'web', namespace: 'default' }, spec: { containers: [] } });
const config = (op: PodConfigUpdate['op'], uid: string): SupervisorMessage => ({
  type: 'config',
  at: 1,
  update: { op, source: 'file', pods: [pod(uid)] },
});
const seen = (uid: string, at = 2): ObservedPod => seenPod(uid, at);

test('what an earlier agent left of a pod that was removed while it waited for its name is looked at, and taken down', () => {
  const { supervisor, asked, posted } = supervisorThatHolds(['second']);
  supervisor.take(config('ADD', 'first'));
  supervisor.take(config('ADD', 'second'));
  supervisor.take({ type: 'sourcesReady', at: 1 });
  assert.deepEqual(posted, ['first pod.start']);
  supervisor.take(config('REMOVE', 'second'));
  assert.deepEqual(asked, ['second']);
  supervisor.take({ type: 'seen', at: 2, observed: seen('second') });
  assert.deepEqual(posted, ['first pod.start', 'second pod.start']);
});

test('a removed pod of which the runtime holds nothing is not looked at', () => {
  const { supervisor, asked } = supervisorThatHolds([]);
  supervisor.take(config('ADD', 'first'));
  supervisor.take(config('ADD', 'second'));
  supervisor.take(config('REMOVE', 'second'));
  assert.deepEqual(asked, []);
});

test('a look from before the clock was set back is not taken in, but made again', () => {
  const { supervisor, asked, posted } = supervisorThatHolds([]);
  supervisor.take(config('ADD', 'first'));
  supervisor.take({ type: 'seen', at: 5, observed: seen('first', 300) });
  assert.deepEqual([posted, asked], [['first pod.start'], ['first']]);
  supervisor.take({ type: 'seen', at: 5, observed: seen('first', 5) });
  assert.deepEqual(posted, ['first pod.start', 'first pod.observed']);
});

test('a pod whose look takes long starts as it is known by then', () => {
  const told: string[] = [];
  const supervisor = supervisorWith({
    held: () => true,
    observe: () => undefined,
    post: (_shard, _uid, message) =>
      void told.push(`${message.type} ${'pod' in message ? (message.pod.status?.phase ?? '') : ''}`.trimEnd()),
  });
  const given = (op: PodConfigUpdate['op'], phase: string): SupervisorMessage => ({
    ...{ type: 'config', at: 1 },
    update: { op, source: 'api', pods: [{ ...pod('u'), status: { phase } }] },
  });
  supervisor.take(given('ADD', 'Running'));
  supervisor.take(given('RECONCILE', 'Failed'));
  assert.equal(told.length, 0);
  supervisor.take({ type: 'seen', at: 2, observed: seen('u') });
  assert.deepEqual(
    told.filter((what) => !what.startsWith('pod.observed')),
    ['pod.start Failed'],
    'nothing of it is begun by the older word',
  );
});
