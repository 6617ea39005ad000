import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { createApiClient } from '../../../actors/cluster/api/create-api-client.ts';
import { MirrorPods } from '../../../actors/cluster/mirror-pods/mirror-pods.ts';
import type { MirrorPodsOptions } from '../../../actors/cluster/mirror-pods/mirror-pods.ts';
import type { StaticLife } from '../../../machines/mirror-pods/mirror-plan.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { startFakeApiServer } from '../api/support/fake-api-server.ts';
import { PODS } from '../status/support/status-node.ts';
import { until } from '../../tools/wait-for.ts';

const QUIET_MS = 300;
const COLLECTION = '/v1/pods';

const staticPod = (hash: string): Pod => ({
  metadata: {
    name: 's-node1',
    namespace: 'n',
    uid: hash,
    annotations: { 'kubernetes.io/config.hash': hash, 'kubernetes.io/config.source': 'file' },
  },
  spec: { nodeName: 'node1', containers: [{ name: 'a' }] },
  status: { phase: 'Pending' },
});

async function start(t: TestContext) {
  const server = await startFakeApiServer();
  const log = pino({ level: 'silent' });
  const api = createApiClient({ kubeconfig: server.kubeconfigPath, userAgent: 'test', log });
  const lives = new Map<string, StaticLife>();
  const state: { node: ReturnType<MirrorPodsOptions['node']>; errors: string[] } = {
    node: { metadata: { name: 'node1', uid: 'node-uid' } },
    errors: [],
  };
  const mirrors = new MirrorPods({
    api,
    nodeName: 'node1',
    node: () => state.node,
    log,
    steady: () => performance.now(),
    lifeOf: (uid) => lives.get(uid) ?? 'running',
    onError: (error) => state.errors.push(error.message),
  });
  const unlisten = server.store.listen(({ collection, type, object }) => {
    if (collection !== COLLECTION) return;
    if (type === 'DELETED') mirrors.apiPodGone(object.metadata.uid ?? '');
    else mirrors.apiPod(object as unknown as Pod);
  });
  t.after(async () => {
    unlisten();
    await mirrors.stop();
    api.close();
    await server.close();
  });
  const stored = (): Pod | undefined => server.get(PODS, 's-node1') as unknown as Pod | undefined;
  const hash = (): string | undefined => stored()?.metadata?.annotations?.['kubernetes.io/config.mirror'];
  const verbs = (): string[] => server.requests.map(({ verb }) => verb);
  return { server, mirrors, lives, state, stored, hash, verbs };
}

test('a mirror pod is made once the node is registered, once', async (t) => {
  const { mirrors, state, stored, hash, verbs } = await start(t);
  state.node = null;
  mirrors.setStatic([staticPod('h1')]);
  await sleep(50);
  assert.deepEqual(verbs(), []);
  state.node = { metadata: { name: 'node1', uid: 'node-uid' } };
  mirrors.look();
  mirrors.look();
  await until(() => hash() === 'h1');
  mirrors.setStatic([staticPod('h1')]);
  await sleep(QUIET_MS);
  assert.deepEqual(verbs(), ['create']);
  assert.deepEqual(stored()?.metadata?.ownerReferences, [
    { apiVersion: 'v1', kind: 'Node', name: 'node1', uid: 'node-uid', controller: true },
  ]);
  assert.notEqual(stored()?.metadata?.uid, 'h1');
  assert.equal(mirrors.count, 1);
});

test('none is made on a node that is being deleted', async (t) => {
  const { mirrors, state, verbs } = await start(t);
  state.node = { metadata: { name: 'node1', uid: 'u', deletionTimestamp: '2026-01-01T00:00:00Z' } };
  mirrors.setStatic([staticPod('h1')]);
  await sleep(QUIET_MS);
  assert.deepEqual(verbs(), []);
});

test('one that was deleted by hand comes back, also when the deletion is graceful', async (t) => {
  const { server, mirrors, stored, hash } = await start(t);
  mirrors.setStatic([staticPod('h1')]);
  await until(() => hash() === 'h1');
  const first = stored()?.metadata?.uid;
  server.remove(PODS, 's-node1');
  await until(() => hash() === 'h1');
  const second = stored();
  assert.notEqual(second?.metadata?.uid, first);
  server.put(PODS, { ...second, metadata: { ...second?.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
  await until(() => hash() === 'h1' && stored()?.metadata?.uid !== second?.metadata?.uid);
  const deletes = server.requestsOf({ verb: 'delete' });
  assert.deepEqual(
    deletes.map(({ body }) => body),
    [{ apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid: second?.metadata?.uid } }],
  );
});

test('one that is made anew does not wait for a clock that was set back', async (t) => {
  const { server, mirrors, hash } = await start(t);
  mirrors.setStatic([staticPod('h1')]);
  await until(() => hash() === 'h1');
  const { now } = Date;
  t.mock.method(Date, 'now', () => now() - 3_600_000);
  server.remove(PODS, 's-node1');
  await until(() => hash() === 'h1');
});

test('two that disagree: at most one creation a second', async (t) => {
  const { server, mirrors } = await start(t);
  const began = Date.now();
  mirrors.setStatic([staticPod('h1')]);
  const enemy = setInterval(() => server.remove(PODS, 's-node1'), 10);
  const creations = () => server.requestsOf({ verb: 'create' }).map(({ at }) => at);
  try {
    await until(() => creations().length >= 3);
  } finally {
    clearInterval(enemy);
  }
  // A request may arrive late on a busy machine, so that the next one follows it sooner: none arrives before it may be sent.
  for (const [i, at] of creations().entries()) assert.ok(at - began >= i * 990, `${began}: ${creations().join(' ')}`);
});

test('another version of the manifest takes the place of the old one, whose end is waited for', async (t) => {
  const { mirrors, lives, hash, verbs } = await start(t);
  mirrors.setStatic([staticPod('h1')]);
  await until(() => hash() === 'h1');
  lives.set('h1', 'ending');
  mirrors.setStatic([staticPod('h2')]);
  await sleep(QUIET_MS);
  assert.equal(hash(), 'h1');
  lives.set('h1', null);
  mirrors.look();
  await until(() => hash() === 'h2');
  assert.deepEqual(verbs(), ['create', 'delete', 'create']);
});

test('one whose static pod is gone is removed once all sources have spoken', async (t) => {
  const { server, mirrors, stored, verbs } = await start(t);
  const left = server.put(PODS, {
    metadata: { name: 's-node1', namespace: 'n', annotations: { 'kubernetes.io/config.mirror': 'h0' } },
    spec: { nodeName: 'node1' },
  } as { metadata: object });
  mirrors.setApi([left as unknown as Pod]);
  mirrors.setStatic([], false);
  await sleep(QUIET_MS);
  assert.deepEqual(verbs(), []);
  mirrors.setStatic([]);
  await until(() => stored() === undefined);
  assert.equal(mirrors.count, 0);
});

test('a missing namespace and a server that is away are waited for', async (t) => {
  const { server, mirrors, state, hash } = await start(t);
  const lift = server.fault({ verb: 'create' }, { do: 'fail', code: 404, message: 'namespaces "n" not found' });
  mirrors.setStatic([staticPod('h1')]);
  await until(() => state.errors.length >= 2);
  assert.match(state.errors[0] ?? '', /STS004: .*n\/s-node1.*namespaces "n" not found/);
  await server.stop();
  lift();
  await until(() => state.errors.length >= 3);
  await server.start();
  await until(() => hash() === 'h1');
});

test('an ended static pod keeps its mirror pod and gets no new one', async (t) => {
  const { server, mirrors, lives, hash, stored } = await start(t);
  mirrors.setStatic([staticPod('h1')]);
  await until(() => hash() === 'h1');
  lives.set('h1', 'ended');
  mirrors.look();
  await sleep(QUIET_MS);
  assert.equal(hash(), 'h1');
  server.remove(PODS, 's-node1');
  // No new one comes: longer than the pause between two looks.
  await sleep(1_300);
  assert.equal(stored(), undefined);
});
