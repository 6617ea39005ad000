import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { createApiClient } from '../../../actors/cluster/api/create-api-client.ts';
import { NodeLease } from '../../../actors/cluster/node-object/node-lease.ts';
import { startFakeApiServer } from '../api/support/fake-api-server.ts';
import { LEASES } from './support/start-node-object.ts';
import { until } from '../../tools/wait-for.ts';

async function makeLease(t: TestContext, uid: { now: string | undefined } = { now: 'u1' }) {
  const server = await startFakeApiServer();
  const log = pino({ level: 'silent' });
  const api = createApiClient({ kubeconfig: server.kubeconfigPath, userAgent: 'test', log });
  const options = { api, nodeName: 'node1', nodeUid: () => uid.now, durationSeconds: 0.4, log, now: Date.now };
  const lease = new NodeLease(options);
  t.after(async () => {
    await lease.stop();
    api.close();
    await server.close();
  });
  const verbs = () => server.requests.map((r) => r.verb);
  return { server, lease, verbs };
}

test('made with one call and renewed each quarter with one call', async (t) => {
  const { server, lease, verbs } = await makeLease(t);
  lease.start(true);
  await until(() => verbs().length >= 4, 'renewals');
  assert.deepEqual(verbs().slice(0, 4), ['create', 'update', 'update', 'update']);
  const times = server.requests.map((r) => (r.body as { spec: { renewTime: string } }).spec.renewTime);
  assert.deepEqual(times, [...new Set(times)].sort());
  assert.equal((server.get(LEASES, 'node1')?.spec as { holderIdentity: string }).holderIdentity, 'node1');
});

test('an existing lease is read and renewed', async (t) => {
  const { server, lease, verbs } = await makeLease(t);
  server.put(LEASES, { metadata: { name: 'node1', namespace: LEASES.namespace }, spec: { holderIdentity: 'x' } });
  lease.start(false);
  await until(() => verbs().length >= 2, 'a renewal');
  assert.deepEqual(verbs().slice(0, 2), ['get', 'update']);
});

test('one that is deleted is made anew; one that somebody else wrote is read first', async (t) => {
  const { server, lease, verbs } = await makeLease(t);
  lease.start(true);
  await until(() => verbs().includes('update'), 'a renewal');
  server.remove(LEASES, 'node1');
  await until(() => server.get(LEASES, 'node1') !== undefined, 'anew');
  assert.ok(verbs().includes('get'));
  const before = server.get(LEASES, 'node1');
  server.put(LEASES, { ...before, metadata: { ...before?.metadata, labels: { theirs: '1' } } });
  const seen = verbs().length;
  await until(() => {
    const after = server.requests.slice(seen);
    const conflict = after.findIndex((r) => r.verb === 'update' && r.code === 409);
    return conflict >= 0 && after.slice(conflict + 1).some((r) => r.verb === 'update' && r.code === 200);
  }, 'a renewal after a conflict');
  assert.deepEqual(server.get(LEASES, 'node1')?.metadata.labels, { theirs: '1' });
});

test('no node object, no lease; a server that fails is tried again', async (t) => {
  const uid: { now: string | undefined } = { now: undefined };
  const { server, lease, verbs } = await makeLease(t, uid);
  server.fault({ resource: 'leases' }, { do: 'fail', code: 500 }, 2);
  lease.start(true);
  assert.deepEqual(verbs(), []);
  uid.now = 'u2';
  await until(() => server.get(LEASES, 'node1') !== undefined, 'the lease');
  assert.deepEqual(server.get(LEASES, 'node1')?.metadata['ownerReferences'], [
    { apiVersion: 'v1', kind: 'Node', name: 'node1', uid: 'u2' },
  ]);
});

test('a renewal that failed is tried at once when the server answers again', async (t) => {
  const { server, lease } = await makeLease(t);
  const lift = server.fault({ resource: 'leases' }, { do: 'fail', code: 500 });
  lease.start(true);
  await until(() => server.requests.length >= 2, 'failures');
  lift();
  lease.retryNow();
  await until(() => server.get(LEASES, 'node1') !== undefined, 'the lease');
});
