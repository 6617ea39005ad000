import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeConditions } from '../../../machines/node-object/node-conditions.ts';
import { aggregate } from '../../../machines/values/aggregate.ts';
import { readinessErrors, runtimeHealthOf } from '../../../machines/node-object/ready-message.ts';
import { setNodeStatus } from '../../../machines/node-object/set-node-status.ts';
import { configOf, factsOf, well } from './facts.ts';

const calm = { memory: false, disk: false, pid: false };
const T0 = Date.UTC(2026, 0, 1);

test('heartbeats move always, transitions with the status only', () => {
  const first = nodeConditions('n', [], { pressure: calm, notReady: ['a', 'b', 'a'] }, T0);
  const ready = first.conditions.at(-1);
  assert.deepEqual(
    [ready?.type, ready?.status, ready?.reason, ready?.message],
    ['Ready', 'False', 'KubeletNotReady', '[a, b]'],
  );
  assert.equal(
    first.events.some((e) => e.reason === 'NodeNotReady'),
    false,
  );
  const same = nodeConditions('n', first.conditions, { pressure: calm, notReady: ['c'] }, T0 + 10_000);
  assert.deepEqual(same.events, []);
  assert.equal(same.conditions.at(-1)?.message, 'c');
  assert.equal(same.conditions.at(-1)?.lastTransitionTime, '2026-01-01T00:00:00Z');
  assert.equal(same.conditions[0]?.lastHeartbeatTime, '2026-01-01T00:00:10Z');
  assert.equal(same.conditions[0]?.lastTransitionTime, '2026-01-01T00:00:00Z');
  const up = nodeConditions('n', same.conditions, { pressure: { ...calm, disk: true }, notReady: [] }, T0 + 20_000);
  assert.deepEqual(
    up.events.map((e) => e.reason),
    ['NodeHasDiskPressure', 'NodeReady'],
  );
  assert.equal(up.conditions.at(-1)?.lastTransitionTime, '2026-01-01T00:00:20Z');
  const down = nodeConditions('n', up.conditions, { pressure: calm, notReady: ['x'] }, T0 + 30_000);
  assert.deepEqual(
    down.events.map((e) => e.reason),
    ['NodeHasNoDiskPressure', 'NodeNotReady'],
  );
});

test('conditions of others stay, also Unknown ones of ours become what they are', () => {
  const other = { type: 'NetworkUnavailable', status: 'False', reason: 'RouteCreated' };
  const lost = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', lastTransitionTime: 'then' };
  const { conditions, events } = nodeConditions('n', [other, lost], { pressure: calm, notReady: [] }, T0);
  assert.deepEqual(conditions[0], other);
  assert.deepEqual(
    conditions.map((c) => c.type),
    ['NetworkUnavailable', 'Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'],
  );
  assert.equal(conditions[1]?.status, 'True');
  assert.equal(events.at(-1)?.reason, 'NodeReady');
});

test('messages are worded as kubelet words them', () => {
  const noNetwork = runtimeHealthOf({
    state: 'answered',
    conditions: [
      { type: 'RuntimeReady', status: true, reason: '', message: '' },
      { type: 'NetworkReady', status: false, reason: 'NetworkPluginNotReady', message: 'cni plugin not initialized' },
    ],
  });
  assert.deepEqual(noNetwork, {
    runtimeReady: true,
    networkReady: false,
    messages: [
      'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized',
    ],
  });
  const errors = (runtime: typeof well, plegError: string | null) =>
    aggregate(readinessErrors({ runtime, plegError, shutdownErrors: ['node is shutting down'] }));
  assert.equal(
    errors(noNetwork, 'pleg was last seen active 3m1s ago; threshold is 3m0s'),
    `[PLEG is not healthy: pleg was last seen active 3m1s ago; threshold is 3m0s, ${noNetwork.messages[0] ?? ''}, node is shutting down]`,
  );
  assert.equal(errors(well, null), 'node is shutting down');
  assert.equal(
    aggregate(
      readinessErrors({ runtime: runtimeHealthOf({ state: 'unasked' }), plegError: 'pleg has yet to be successful' }),
    ),
    '[container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet to be successful, network state unknown]',
  );
  assert.deepEqual(runtimeHealthOf({ state: 'silent' }).messages, ['container runtime is down']);
  assert.deepEqual(runtimeHealthOf({ state: 'answered', conditions: [] }).messages, [
    'container runtime not ready: <nil>',
    'container runtime network not ready: <nil>',
  ]);
  assert.deepEqual(
    readinessErrors({ runtime: { runtimeReady: false, networkReady: false, messages: [] }, plegError: null }),
    ['container runtime is down'],
  );
});

test('a machine whose storage cannot be told is not ready', () => {
  const facts = factsOf();
  const blind = { ...facts, machine: { ...facts.machine, ephemeralStorageBytes: null } };
  const { node } = setNodeStatus({}, configOf(), blind, T0);
  assert.equal(node.status?.conditions?.at(-1)?.message, 'missing node capacity for resources: ephemeral-storage');
});
