/** What one pod makes somebody fail at is lost to him alone: the others hear of it, and he of the next pod. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handleFromShard } from '../../../actors/node/from-shard.ts';
import type { FromShardParts } from '../../../actors/node/from-shard.ts';
import { watchPodsOfNode } from '../../../actors/node/pods-of-node.ts';
import type { ApiClient } from '../../../actors/cluster/api/api-client.ts';
import { looks } from '../../../actors/record/machines/looks.ts';
import { supervisor } from '../../../actors/record/machines/supervisor.ts';
import { tellEach } from '../../../actors/record/logging/tell-each.ts';
import { PodStore } from '../../../actors/pods/store/pod-store.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { supervisorWith } from '../supervisor/supervisor-bench.ts';
import { memoryLog } from '../journal/journal-fixture.ts';
import { failOn } from './failing-machine.ts';

const podOf = (name: string): Pod => ({
  metadata: { name, namespace: 'default', uid: name, resourceVersion: '1' },
  spec: { containers: [{ name: 'c', image: 'i' }] },
});

test('whoever fails is named in the log, and all others are told', () => {
  const { log, lines } = memoryLog();
  const told: string[] = [];
  const fail = (): never => {
    throw new Error('no');
  };
  tellEach(log, 'a pod', { one: () => told.push('one'), two: fail, three: () => told.push('three'), four: undefined });
  assert.deepEqual(told, ['one', 'three']);
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /"hearer":"two","what":"a pod"/);
});

test('pods are run although those who keep their statuses failed at one of them', async (t) => {
  const { log, lines } = memoryLog();
  const { promise: second, resolve: secondCame } = Promise.withResolvers<undefined>();
  const ran: string[][] = [];
  const answers = [{ metadata: { resourceVersion: '1' }, items: [podOf('a')] }];
  const api = {
    request: () => Promise.resolve(answers[0]),
    stream: ({ signal }: { signal: AbortSignal }) =>
      Promise.resolve(
        (async function* () {
          yield { type: 'ADDED', object: podOf('b') };
          await new Promise((done) => signal.addEventListener('abort', done));
        })(),
      ),
  };
  const fail = (): never => {
    throw new Error('a pod that is none');
  };
  const reflector = watchPodsOfNode({
    ...{ api: api as unknown as ApiClient, nodeName: 'n', log, onList: fail, onPod: fail },
    onPods: (pods) => {
      ran.push(pods().map(({ metadata }) => metadata?.name ?? ''));
      if (ran.length === 2) secondCame(undefined);
    },
  });
  t.after(() => reflector.stop());
  reflector.start();
  await second;
  assert.deepEqual(ran, [['a'], ['a', 'b']]);
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { hearer: string }).hearer),
    ['onList', 'onPod'],
  );
});

/** The parts that hear of a pod that a worker tells of; `fails`: at what each of them throws. */
function parts(fails: readonly string[]) {
  const { log, lines } = memoryLog();
  const told: string[] = [];
  const part = (name: string) => () => {
    told.push(name);
    if (fails.includes(name)) throw new Error(`${name} fails`);
  };
  const made = {
    ...{ log, now: () => 1, nodeName: 'n' },
    store: { report: part('store') },
    puller: { podGone: part('puller') },
    volumes: { podGone: part('volumes'), podEnds: part('volumes') },
    userNamespaces: { release: part('userNamespaces') },
    podMetrics: { finished: part('metrics') },
    supervisor: { context: supervisorWith({ post: () => undefined }).context, take: part('supervisor') },
    intake: { gone: part('intake'), reported: part('intake') },
    events: { record: part('events') },
  };
  return { parts: made as unknown as FromShardParts, told, lines };
}

test('a pod has ended for all who hear of it, though each of them fails at it', () => {
  const all = ['puller', 'volumes', 'userNamespaces', 'metrics', 'supervisor', 'intake'];
  const { parts: node, told, lines } = parts(all);
  handleFromShard(node, 0, { t: 'finished', uid: 'u', pod: podOf('u') });
  assert.deepEqual(told, all);
  assert.equal(lines.length, all.length);
});

test('how a pod stands reaches all, and what nobody can take in does not end the agent', () => {
  const { parts: node, told, lines } = parts(['store', 'events']);
  const report = { uid: 'u', state: 'terminating.stopping', why: '', status: {}, memory: null };
  handleFromShard(node, 0, { t: 'report', report });
  assert.deepEqual(told, ['store', 'puller', 'volumes', 'intake']);
  const event = { uid: 'u', namespace: 'd', name: 'n', at: 1, type: 'Normal', reason: 'R', message: 'm' } as const;
  handleFromShard(node, 0, { t: 'event', event });
  assert.equal(lines.length, 2);
});

/** A supervisor, the pods whose actors it has started, and what it told its log. */
function supervised(post: (uid: string) => void = () => undefined) {
  const { log, lines } = memoryLog();
  const started: string[] = [];
  const it = supervisorWith({
    ...{ log, store: new PodStore() },
    post: (_shard, uid, { type }) => {
      post(uid);
      started.push(`${uid} ${type}`);
    },
  });
  const add = (...names: string[]) =>
    it.take({ type: 'config', at: 1, update: { op: 'ADD', source: 'file', pods: names.map(podOf) } });
  return { it, add, started, lines };
}

test('a message that the supervisor fails at changes nothing, and the next one is taken', (t) => {
  const { it, add, started, lines } = supervised();
  const { mend } = failOn(t, supervisor, ['config', 'tryAgain', 'finished', 'shardReplaced', 'retryStart']);
  assert.match(add('a')?.message ?? '', /^NOD015: The machine supervisor failed on a message \(config\)/);
  for (const type of ['tryAgain', 'finished', 'retryStart'] as const)
    it.take({ type, at: 1, uid: 'a', until: 1 } as never);
  it.take({ type: 'shardReplaced', at: 1, shard: 0 });
  assert.equal(lines.length, 5);
  assert.equal(it.tracks('a'), false);
  mend();
  assert.equal(add('a'), null);
  assert.deepEqual(started, ['a pod.start']);
  failOn(t, looks, ['look.start'], 1);
  assert.equal(add('b', 'c'), null);
  assert.deepEqual(started, ['a pod.start', 'c pod.start']);
});

test('a pod that cannot be posted to its shard keeps no other from it', () => {
  const { add, started, lines } = supervised((uid) => {
    if (uid === 'b') throw new Error('could not be cloned');
  });
  assert.equal(add('a', 'b', 'c'), null);
  assert.deepEqual(started, ['a pod.start', 'c pod.start']);
  assert.match(lines[0] ?? '', /NOD016.*could not be cloned/);
});
