import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { createApiClient } from '../../../actors/cluster/api/create-api-client.ts';
import { NodeLease } from '../../../actors/cluster/node-object/node-lease.ts';
import { startFakeApiServer } from '../api/support/fake-api-server.ts';
import { eventually } from './support/eventually.ts';
import { LEASES } from './support/start-node-object.ts';

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
  await eventually('renewals', () => verbs().length >= 4);
  assert.deepEqual(verbs().slice(0, 4), ['create', 'update', 'update', 'update']);
  const times = server.requests.map((r) => (r.body as { spec: { renewTime: string } }).spec.renewTime);
  assert.deepEqual(times, [...new Set(times)].sort());
  assert.equal((server.get(LEASES, 'node1')?.spec as { holderIdentity: string }).holderIdentity, 'node1');
});

test('an existing lease is read and renewed', async (t) => {
  const { server, lease, verbs } = await makeLease(t);
  server.put(LEASES, { metadata: { name: 'node1', namespace: LEASES.namespace }, spec: { holderIdentity: 'x' } });
  lease.start(false);
  await eventually('a renewal', () => verbs().length >= 2);
  assert.deepEqual(verbs().slice(0, 2), ['get', 'update']);
});

test('one that is deleted is made anew; one that somebody else wrote is read first', async (t) => {
  const { server, lease, verbs } = await makeLease(t);
  lease.start(true);
  await eventually('a renewal', () => verbs().includes('update'));
  server.remove(LEASES, 'node1');
  await eventually('anew', () => server.get(LEASES, 'node1') !== undefined);
  assert.ok(verbs().includes('get'));
  const before = server.get(LEASES, 'node1');
  server.put(LEASES, { ...before, metadata: { ...before?.metadata, labels: { theirs: '1' } } });
  const seen = verbs().length;
  await eventually('a renewal after a conflict', () => {
    const after = server.requests.slice(seen);
    const conflict = after.findIndex((r) => r.verb === 'update' && r.code === 409);
    return conflict >= 0 && after.slice(conflict + 1).some((r) => r.verb === 'update' && r.code === 200);
  });
  assert.deepEqual(server.get(LEASES, 'node1')?.metadata.labels, { theirs: '1' });
});

test('no node object, no lease; a server that fails is tried again', async (t) => {
  const uid: { now: string | undefined } = { now: undefined };
  const { server, lease, verbs } = await makeLease(t, uid);
  server.fault({ resource: 'leases' }, { do: 'fail', code: 500 }, 2);
  lease.start(true);
  assert.deepEqual(verbs(), []);
  uid.now = 'u2';
  await eventually('the lease', () => server.get(LEASES, 'node1') !== undefined);
  assert.deepEqual(server.get(LEASES, 'node1')?.metadata['ownerReferences'], [
    { apiVersion: 'v1', kind: 'Node', name: 'node1', uid: 'u2' },
  ]);
});

test('a renewal that failed is tried at once when the server answers again', async (t) => {
  const { server, lease } = await makeLease(t);
  const lift = server.fault({ resource: 'leases' }, { do: 'fail', code: 500 });
  lease.start(true);
  await eventually('failures', () => server.requests.length >= 2);
  lift();
  lease.retryNow();
  await eventually('the lease', () => server.get(LEASES, 'node1') !== undefined);
});
