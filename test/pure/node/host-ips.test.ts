import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostIPsOf } from '../../../actors/cluster/node-object/host-ips.ts';
import { HostIPs } from '../../../actors/node/host-ips.ts';
import { supervisorWith } from '../supervisor/supervisor-bench.ts';

const ips = (...addresses: [string, string][]) =>
  hostIPsOf({ status: { addresses: addresses.map(([type, address]) => ({ type, address })) } });

test("a node's addresses by its object: internal ones first, one of each family", () => {
  assert.deepEqual(ips(['Hostname', 'node1']), []);
  assert.deepEqual(ips(['ExternalIP', '203.0.113.1'], ['InternalIP', '10.0.0.1'], ['InternalIP', '10.0.0.2']), [
    '10.0.0.1',
  ]);
  assert.deepEqual(ips(['InternalIP', 'FD00:0::1'], ['InternalIP', 'name'], ['ExternalIP', '203.0.113.1']), [
    'fd00::1',
    '203.0.113.1',
  ]);
  assert.deepEqual(hostIPsOf({}), []);
});

test('pods are told them when they know others', () => {
  const told: string[][] = [];
  const known = new HostIPs(['127.0.0.1'], (now) => void told.push(now));
  known.take(['127.0.0.1']);
  assert.equal(known.now, undefined);
  for (const now of [[], [], ['10.0.0.1'], ['10.0.0.1'], ['127.0.0.1']]) known.take(now);
  assert.deepEqual(told, [[], ['10.0.0.1'], ['127.0.0.1']]);
  assert.deepEqual(known.now, ['127.0.0.1']);
});

test('a pod that comes later, or whose worker was replaced, is told them with its start', () => {
  const told: (string[] | undefined)[] = [];
  const known = new HostIPs(['127.0.0.1'], (nodeIPs) => supervisor.broadcast({ type: 'pod.sync', at: 5, nodeIPs }));
  const supervisor = supervisorWith({
    nodeIPs: () => known.now,
    post: (_shard, _uid, message) => {
      if (message.type === 'pod.start' || message.type === 'pod.sync') told.push(message.nodeIPs);
    },
  });
  const add = (uid: string) =>
    supervisor.take({
      ...{ type: 'config', at: 1 },
      update: { op: 'ADD', source: 'file', pods: [{ metadata: { uid, name: uid }, spec: { containers: [] } }] },
    });
  add('u1');
  assert.deepEqual(told, [undefined]);
  known.take(['192.0.2.1']);
  assert.deepEqual(told, [undefined, ['192.0.2.1']]);
  add('u2');
  assert.deepEqual(told, [undefined, ['192.0.2.1'], ['192.0.2.1']]);
});
