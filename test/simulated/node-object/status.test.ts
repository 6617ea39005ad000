import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeNodeObject, NO_NETWORK, NODES, WELL } from './support/start-node-object.ts';
import { until } from '../../tools/wait-for.ts';

/** No tick of its own within a test: what happens, happens because of `changed()` or of the watch. */
const quiet = { nodeStatusUpdateFrequency: '10m', nodeLeaseDurationSeconds: 2_400 };

test('what changed() tells is patched at once, with the reason, and back', async (t) => {
  const { server, node, events, stored, ready, runtime } = await makeNodeObject(t, { config: quiet });
  node.start();
  await node.whenRegistered();
  runtime.look = NO_NETWORK;
  // Three calls of one turn are one patch.
  node.changed();
  node.changed();
  node.changed();
  await until(() => ready() === 'False', 'not ready');
  const found = stored()?.status?.conditions?.find((c) => c.type === 'Ready');
  assert.equal(found?.reason, 'KubeletNotReady');
  assert.equal(
    found.message,
    'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:m',
  );
  runtime.look = { state: 'silent' };
  runtime.version = '2.0.0';
  node.changed();
  await until(() => stored()?.status?.conditions?.at(-1)?.message === 'container runtime is down', 'down');
  runtime.look = WELL;
  node.changed();
  await until(() => ready() === 'True', 'ready');
  await until(() => stored()?.status?.nodeInfo?.containerRuntimeVersion === 'containerd://2.0.0', 'new version');
  await until(() => server.requestsOf({ verb: 'patch', resource: 'nodes' }).every((r) => r.code === 200), 'idle');
  // The new version comes with the last change or right after it.
  assert.ok(server.requestsOf({ verb: 'patch', resource: 'nodes' }).length <= 4);
  const told = (): string[] => events.map((e) => e.reason).filter((reason) => reason.endsWith('Ready'));
  // An event follows the answer to its patch, which the server has stored by then.
  await until(() => told().length >= 3, 'the last event');
  assert.deepEqual(told(), ['NodeReady', 'NodeNotReady', 'NodeReady']);
});

test('a change while the server is away arrives when it is back; nothing is told twice', async (t) => {
  const { server, node, events, ready, runtime } = await makeNodeObject(t, { config: quiet });
  node.start();
  await node.whenRegistered();
  await until(() => server.openWatches('nodes') === 1, 'a watch');
  await server.stop();
  runtime.look = NO_NETWORK;
  node.changed();
  // No event before the API server has heard of it: three tries.
  await sleep(700);
  assert.equal(events.filter((e) => e.reason === 'NodeNotReady').length, 0);
  await server.start();
  await until(() => ready() === 'False', 'not ready');
  await until(() => events.filter((e) => e.reason === 'NodeNotReady').length === 1, 'the event');
});

test('images are listed again after a while, also when the clock is set back meanwhile', async (t) => {
  const clock = { now: Date.now(), steady: 1_000 };
  const times = { now: () => clock.now, steady: () => clock.steady };
  const { node, runtime, stored } = await makeNodeObject(t, times);
  const images = () => (stored()?.status?.images ?? []).flatMap(({ names }) => names);
  node.start();
  await until(() => images().includes('a:1'), 'the first image');
  runtime.image = 'b:1';
  clock.now -= 3_600_000;
  clock.steady += 600_000;
  await until(() => images().includes('b:1'), 'the second image');
});

test('version, handlers and features of a runtime that was never away are asked for again after a while', async (t) => {
  const clock = { now: Date.now(), steady: 1_000 };
  const { node, runtime, stored } = await makeNodeObject(t, { now: () => clock.now, steady: () => clock.steady });
  const told = () => [
    stored()?.status?.nodeInfo?.containerRuntimeVersion,
    ...(stored()?.status?.runtimeHandlers ?? []).map((handler) => handler.name),
  ];
  node.start();
  await until(() => String(told()) === 'containerd://1.6.20,runc', 'the first version');
  runtime.version = '2.1.0';
  runtime.handlers.push('kata');
  clock.steady += 60_000;
  await until(() => String(told()) === 'containerd://2.1.0,runc,kata', 'the second version');
});

test('a node has been told of when the API server has what this agent sees, not what an earlier one told', async (t) => {
  const { server, node, stored } = await makeNodeObject(t, { config: quiet });
  const capacity = () => stored()?.status?.capacity?.['memory'];
  node.start();
  await until(() => node.hasSpoken(), 'the first one to have told');
  const object = structuredClone(stored());
  const own = capacity();
  assert.ok(object?.status?.capacity !== undefined && own !== undefined);
  await node.stop();
  object.status.capacity['memory'] = '1Ki';
  server.put(NODES, object);

  server.fault({ verb: 'patch', resource: 'nodes' }, { do: 'delay', ms: 300 });
  const { node: next } = await makeNodeObject(t, { config: quiet, server });
  assert.equal(next.hasSpoken(), false);
  next.start();
  const seen: unknown[] = [];
  await until(() => {
    if (!next.hasSpoken()) return false;
    seen.push(capacity());
    return true;
  }, 'the next one to have told');
  assert.deepEqual(seen, [own]);
});

test('a node that cannot be told of has tried', async (t) => {
  const { server, node } = await makeNodeObject(t, { config: quiet });
  await server.stop();
  node.start();
  await until(() => node.hasSpoken(), 'a try');
});

test('an API server that gives no answer is waited for 15 s, also when the clock is set back meanwhile', async (t) => {
  const clock = { now: Date.now(), steady: 1_000 };
  const { server, node } = await makeNodeObject(t, { config: quiet, now: () => clock.now, steady: () => clock.steady });
  server.fault({ resource: 'nodes' }, { do: 'delay', ms: 2_000 });
  node.start();
  clock.now -= 3_600_000;
  clock.steady += 14_999;
  assert.equal(node.hasSpoken(), false);
  clock.steady += 1;
  assert.equal(node.hasSpoken(), true);
});

test('a node that was given up says at once that it is there', async (t) => {
  const { server, node, stored, ready } = await makeNodeObject(t, { config: quiet });
  node.start();
  await node.whenRegistered();
  await until(() => server.openWatches('nodes') === 1, 'a watch');
  const object = structuredClone(stored());
  const found = object?.status?.conditions?.find((c) => c.type === 'Ready');
  assert.ok(object !== undefined && found !== undefined);
  found.status = 'Unknown';
  server.put(NODES, object);
  await until(() => ready() === 'True', 'ready');
});

test('an object deleted by hand is not made anew, one made by somebody else gets its status', async (t) => {
  const { server, node, ready } = await makeNodeObject(t);
  node.start();
  await node.whenRegistered();
  await until(() => server.openWatches('nodes') === 1, 'a watch');
  server.remove(NODES, 'node1');
  await until(() => node.node() === null, 'seen');
  // It is not made anew: longer than a period of status updates.
  await sleep(1_500);
  assert.equal(server.requestsOf({ verb: 'create', resource: 'nodes' }).length, 1);
  assert.equal(server.get(NODES, 'node1'), undefined);
  server.put(NODES, { metadata: { name: 'node1' } });
  await until(() => ready() === 'True', 'ready');
});

test('cordon and uncordon are told', async (t) => {
  const { server, node, events, stored } = await makeNodeObject(t, { config: quiet });
  node.start();
  await node.whenRegistered();
  await until(() => server.openWatches('nodes') === 1, 'a watch');
  const change = (unschedulable: boolean) => server.put(NODES, { ...stored(), spec: { unschedulable } });
  change(true);
  await until(() => events.some((e) => e.reason === 'NodeNotSchedulable'), 'cordoned');
  assert.equal(node.node()?.spec?.unschedulable, true);
  change(false);
  await until(() => events.at(-1)?.reason === 'NodeSchedulable', 'uncordoned');
  assert.equal(events.at(-1)?.message, 'Node node1 status is now: NodeSchedulable');
});

test('heartbeats go out each report period, and nothing in between', async (t) => {
  const config = { nodeStatusUpdateFrequency: '300ms', nodeStatusReportFrequency: '1s' };
  const { server, node } = await makeNodeObject(t, { config });
  const began = Date.now();
  node.start();
  await node.whenRegistered();
  // The addresses are this machine's, which may change meanwhile: a patch of these is no heartbeat.
  const patches = () =>
    server
      .requestsOf({ verb: 'patch', resource: 'nodes' })
      .filter(({ body }) => 'conditions' in (body as { status: object }).status);
  await until(() => patches().length >= 3, 'three heartbeats');
  const times = patches().map((r) => r.at);
  // The first comes after a spread of half a period to both sides, the others after a period; a request may arrive late, and the next
  // one soon after it: none arrives before it may be sent.
  for (const [index, at] of times.entries()) assert.ok(at - began >= 490 + index * 990, `${began}: ${String(times)}`);
  for (const { body } of patches()) {
    const { status } = body as { status: { conditions: Record<string, string>[] } };
    assert.deepEqual(Object.keys(status).sort(), ['$setElementOrder/conditions', 'conditions']);
    for (const each of status.conditions) assert.deepEqual(Object.keys(each).sort(), ['lastHeartbeatTime', 'type']);
  }
});

test('a node IP that is not of this machine is not told', async (t) => {
  const { node, stored, ready } = await makeNodeObject(t, { nodeIPs: ['203.0.113.254'], config: quiet });
  node.start();
  await node.whenRegistered();
  assert.equal(stored()?.status?.addresses, undefined);
  assert.equal(ready(), 'True');
});

test('a patch that is refused is tried again with growing pauses', async (t) => {
  const { server, node, ready, runtime } = await makeNodeObject(t, { config: quiet });
  node.start();
  await node.whenRegistered();
  await until(() => server.openWatches('nodes') === 1, 'a watch');
  const lift = server.fault({ verb: 'patch' }, { do: 'fail', code: 403, reason: 'Forbidden' });
  runtime.look = NO_NETWORK;
  const began = Date.now();
  node.changed();
  const tries = (): number[] => server.requestsOf({ verb: 'patch', resource: 'nodes' }).map((r) => r.at);
  await until(() => tries().length >= 3, 'three tries');
  // At 0, 200, 600 ms; a request may arrive late.
  assert.ok((tries()[2] ?? 0) - began >= 590, `${began}: ${String(tries())}`);
  lift();
  await until(() => ready() === 'False', 'not ready');
});
