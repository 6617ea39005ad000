import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CSI_NODES, LEASES, makeNodeObject, NODES } from './support/start-node-object.ts';
import { until } from '../../tools/wait-for.ts';

test('a new node is ready with one POST; lease and CSINode belong to it; no further write', async (t) => {
  const { server, node, events, stored } = await makeNodeObject(t);
  node.start();
  await node.whenRegistered();
  await until(() => {
    return server.get(LEASES, 'node1') !== undefined && server.get(CSI_NODES, 'node1') !== undefined;
  }, 'lease and CSINode');
  const uid = node.node()?.metadata?.uid;
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'node1', uid };
  assert.deepEqual(server.get(LEASES, 'node1')?.metadata['ownerReferences'], [owner]);
  assert.deepEqual(server.get(CSI_NODES, 'node1')?.metadata['ownerReferences'], [owner]);
  await until(() => server.openWatches('nodes') === 1, 'a watch');
  assert.deepEqual(stored()?.status?.images, [{ names: ['a:1'], sizeBytes: 7 }]);
  assert.equal(stored()?.status?.nodeInfo?.containerRuntimeVersion, 'containerd://1.6.20');
  // Two periods of status updates: nothing changed, so nothing is written.
  await sleep(2_200);
  const writes = server.requests.filter((r) => !['get', 'list', 'watch'].includes(r.verb));
  assert.deepEqual(writes.map((r) => `${r.method} ${r.resource}`).sort(), [
    'POST csinodes',
    'POST leases',
    'POST nodes',
  ]);
  assert.deepEqual(
    events.map((e) => e.reason),
    ['Starting', 'NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID', 'NodeReady'],
  );
  assert.deepEqual(events[0]?.object, { apiVersion: 'v1', kind: 'Node', namespace: '', name: 'node1', uid: '' });
});

test('an existing object is reconciled with one PATCH; what others wrote stays', async (t) => {
  const { server, node, events, stored, ready } = await makeNodeObject(t);
  server.put(NODES, {
    metadata: { name: 'node1', labels: { 'kubernetes.io/hostname': 'old', theirs: '1' } },
    spec: { unschedulable: true, podCIDRs: ['10.1.0.0/24'] },
    status: {
      conditions: [{ type: 'Ready', status: 'Unknown', lastTransitionTime: '2026-01-01T00:00:00Z' }],
      nodeInfo: { bootID: 'another' },
    },
  });
  node.start();
  await node.whenRegistered();
  assert.equal(ready(), 'True');
  const [patch, ...more] = server.requestsOf({ verb: 'patch', resource: 'nodes' });
  assert.deepEqual(more, []);
  assert.equal(patch?.subresource, 'status');
  assert.equal(patch.headers['content-type'], 'application/strategic-merge-patch+json');
  const labels = (patch.body as { metadata: { labels: Record<string, string> } }).metadata.labels;
  assert.equal(labels['kubernetes.io/hostname'], 'node1');
  assert.equal('theirs' in labels, false);
  assert.equal('mine' in labels, false);
  assert.equal(stored()?.spec?.unschedulable, true);
  await until(() => events.some((e) => e.reason === 'NodeNotSchedulable'), 'the events');
  assert.deepEqual(events.map((e) => e.reason).sort(), [
    'NodeHasNoDiskPressure',
    'NodeHasSufficientMemory',
    'NodeHasSufficientPID',
    'NodeNotSchedulable',
    'NodeReady',
    'Rebooted',
    'Starting',
  ]);
});

test('registration goes on until the server takes it', async (t) => {
  const { server, node, ready } = await makeNodeObject(t);
  server.fault({ verb: 'create', resource: 'nodes' }, { do: 'fail', code: 500 }, 2);
  node.start();
  await node.whenRegistered();
  assert.equal(ready(), 'True');
  assert.equal(server.requestsOf({ verb: 'create', resource: 'nodes' }).length, 3);
});

test('a node that may not create its object uses the one that is there', async (t) => {
  const { server, node, ready } = await makeNodeObject(t);
  server.fault({ verb: 'create', resource: 'nodes' }, { do: 'fail', code: 403, reason: 'Forbidden' });
  server.put(NODES, { metadata: { name: 'node1' } });
  node.start();
  await node.whenRegistered();
  assert.equal(ready(), 'True');
});

test('KubeletRegistrationGetOnExistsOnly: such a node goes on trying to create its object', async (t) => {
  const featureGates = { KubeletRegistrationGetOnExistsOnly: true };
  const { server, node, ready } = await makeNodeObject(t, { config: { featureGates } });
  server.fault({ verb: 'create', resource: 'nodes' }, { do: 'fail', code: 403, reason: 'Forbidden' }, 2);
  node.start();
  await node.whenRegistered();
  assert.equal(ready(), 'True');
  assert.equal(server.requestsOf({ verb: 'create', resource: 'nodes' }).length, 3);
});

test('registerNode=false: the node waits for its object, then fills the status', async (t) => {
  const { server, node, ready, runtime } = await makeNodeObject(t, { config: { registerNode: false } });
  node.start();
  await until(() => server.openWatches('nodes') === 1, 'a watch');
  assert.equal(node.node(), null);
  server.put(NODES, { metadata: { name: 'other' } });
  server.put(NODES, { metadata: { name: 'node1' }, spec: { podCIDRs: ['10.1.0.0/24', 'fd00::/64'] } });
  await node.whenRegistered();
  await until(() => ready() === 'True', 'Ready');
  assert.deepEqual(server.requestsOf({ verb: 'create', resource: 'nodes' }), []);
  await until(() => server.get(LEASES, 'node1') !== undefined, 'the lease');
  assert.deepEqual(runtime.podCidrs, ['10.1.0.0/24,fd00::/64']);
});

test('an external cloud provider: tainted, addresses left to its controller', async (t) => {
  const { node, stored } = await makeNodeObject(t, { cloudProvider: 'external' });
  node.start();
  await node.whenRegistered();
  assert.deepEqual(stored()?.status?.addresses, [{ type: 'Hostname', address: 'node1' }]);
  assert.deepEqual(stored()?.spec?.taints, [
    { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' },
  ]);
});

test('a CSINode that an earlier machine of this name has left is replaced', async (t) => {
  const { server, node } = await makeNodeObject(t, {});
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'node1', uid: 'of-the-earlier' };
  const drivers = [{ name: 'old.example.com', nodeID: 'x' }];
  server.put(CSI_NODES, { metadata: { name: 'node1', ownerReferences: [owner] }, spec: { drivers } });
  node.start();
  await node.whenRegistered();
  await until(() => server.requestsOf({ verb: 'delete', resource: 'csinodes' }).length === 1, 'the old one to go');
  await until(() => server.get(CSI_NODES, 'node1') !== undefined, 'its own');
  const own = server.get(CSI_NODES, 'node1');
  const owners = own?.metadata?.ownerReferences as { uid: string }[];
  assert.deepEqual(
    owners.map(({ uid }) => uid),
    [server.get(NODES, 'node1')?.metadata?.uid],
  );
  assert.deepEqual(own?.['spec'], { drivers: [] });
});

test('a node without a CSINode is not ready, and says why; it goes on trying', async (t) => {
  const { server, node, stored, ready } = await makeNodeObject(t, { config: { nodeStatusUpdateFrequency: '200ms' } });
  const refused = { do: 'fail', code: 403, reason: 'Forbidden' } as const;
  server.fault({ verb: 'create', resource: 'csinodes' }, refused, 3);
  node.start();
  await node.whenRegistered();
  await until(() => ready() === 'False', 'NotReady');
  const said = stored()?.status?.conditions?.find(({ type }) => type === 'Ready');
  assert.match(String(said?.message), /^failed to initialize CSINode: /);
  await until(() => server.get(CSI_NODES, 'node1') !== undefined, 'the CSINode');
  await until(() => ready() === 'True', 'Ready');
});
