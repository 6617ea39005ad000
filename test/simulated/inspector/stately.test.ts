import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createWebSocketReceiver } from '@statelyai/inspect';
import type { StatelyActorEvent, StatelyInspectionEvent, StatelySnapshotEvent } from '@statelyai/inspect';
import { WebSocket } from 'ws';
import { createMachine } from 'xstate';
import { feed, folder, journalingShard, lifeOf, memoryLog } from '../../pure/journal/journal-fixture.ts';
import { journalOfLives, podNamed, startPods } from '../../pure/inspector/made-journal.ts';
import { machineClock } from '../../../actors/host/time/clock.ts';
import { NodeState } from '../../../actors/node/node-state.ts';
import { runtimeHealthOf } from '../../../machines/node-object/ready-message.ts';
import { until } from '../agent/support/bench.ts';
import { served, TOKEN } from './served.ts';

/** The package's own client. It has no way to close: the server does that when the test ends. */
function received(_t: TestContext, address: string): StatelyInspectionEvent[] {
  const events: StatelyInspectionEvent[] = [];
  createWebSocketReceiver({ server: address }).subscribe((event) => events.push(event));
  return events;
}

const actors = (events: StatelyInspectionEvent[]) =>
  events.filter((e): e is StatelyActorEvent => e.type === '@xstate.actor');
const snapshots = (events: StatelyInspectionEvent[], sessionId: string) =>
  events.filter((e): e is StatelySnapshotEvent => e.type === '@xstate.snapshot' && e.sessionId === sessionId);

test('the package’s client follows a pod and its container from birth to end', async (t) => {
  const dir = folder(t);
  const server = await served(t, { mode: 'live', dir });
  const events = received(t, server.statelyAddress);
  await until('who sends messages', () => actors(events).some(({ name }) => name === 'pleg'));
  const shard = journalingShard(dir);
  t.after(() => shard.close());
  const life = lifeOf(podNamed('web'));
  for (const message of life) {
    await feed(shard, 'web', [message]);
    await sleep(15);
  }
  await until('the end', () => snapshots(events, 'web').some(({ snapshot }) => snapshot.status === 'done'));

  const pod = actors(events).find(({ sessionId }) => sessionId === 'web');
  assert.deepEqual([pod?.name, pod?.parentId, pod?.rootId], ['default/web', undefined, 'web']);
  const container = actors(events).find(({ sessionId }) => sessionId === 'web/container/c');
  assert.deepEqual([container?.name, container?.parentId, container?.rootId], ['web/c', 'web', 'web']);
  // Definitions are such that XState makes a machine of them, which is what the inspector's page does.
  for (const [actor, states] of [
    [pod, ['syncing', 'terminating', 'terminated']],
    [container, ['running', 'exited']],
  ] as const) {
    const machine = createMachine(JSON.parse(actor?.definition ?? '{}') as object);
    for (const state of states) assert.ok(state in machine.root.states, state);
  }
  // Each actor is told before anything that happens to it; ids are unique among their kind.
  const known = new Set<string>();
  for (const event of events) {
    if (event.type === '@xstate.actor') known.add(event.sessionId);
    assert.ok(known.has(event.sessionId), `${event.type} of ${event.sessionId}`);
    if (event.type === '@xstate.event') assert.ok(known.has(event.sourceId ?? ''), event.sourceId);
    assert.equal(typeof event._version, 'string');
    assert.match(event.createdAt, /^\d+$/);
  }
  assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
  const toPod = events.filter((e) => e.type === '@xstate.event' && e.sessionId === 'web');
  assert.deepEqual(
    toPod.map((e) => (e as { event: { type: string } }).event.type),
    life.map(({ type }) => type),
  );
  const end = snapshots(events, 'web').at(-1)?.snapshot as { value?: unknown } | undefined;
  assert.deepEqual(end?.value, { terminated: 'finished' });
  assert.ok(snapshots(events, 'web/container/c').length > 3);
});

test('the node and a pod’s volumes are actors with definitions, and move', async (t) => {
  const dir = folder(t);
  const runtime = { value: runtimeHealthOf({ state: 'silent' }) };
  const node = new NodeState({
    ...{
      nodeName: 'n1',
      agent: 'v',
      cluster: false,
      log: memoryLog().log,
      clock: machineClock,
      carryOut: () => undefined,
    },
    facts: () => ({ runtime: runtime.value, plegError: null, sourcesReady: false, registered: false }),
    journal: { dir, agent: 'v', maxBytes: 1 << 20, log: memoryLog().log },
  });
  t.after(() => node.stop());
  const shard = journalingShard(dir);
  t.after(() => shard.close());
  const made = podNamed('web');
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  const spec = { volumes: [{ name: 'data', emptyDir: {} }], containers: [{ name: 'c', image: 'img:1', volumeMounts }] };
  const life = lifeOf({ ...made, spec: { ...made.spec, ...spec } });
  const server = await served(t, { mode: 'live', dir });
  const events = received(t, server.statelyAddress);
  await feed(shard, 'web', life.slice(0, 1));
  await until('both', () => ['@node', 'web/volume/data'].every((id) => actors(events).some((a) => a.sessionId === id)));
  const [theNode, volume] = ['@node', 'web/volume/data'].map((id) => actors(events).find((a) => a.sessionId === id));
  assert.deepEqual([theNode?.name, theNode?.parentId, theNode?.snapshot.value], ['n1', undefined, 'starting']);
  assert.deepEqual([volume?.name, volume?.parentId], ['web/data', 'web']);
  for (const [actor, states] of [
    [theNode, ['starting', 'notReady', 'ready', 'shuttingDown']],
    [volume, ['pending', 'mounted', 'leaving']],
  ] as const)
    assert.deepEqual(Object.keys(createMachine(JSON.parse(actor?.definition ?? '{}') as object).root.states), states);

  node.look();
  await feed(shard, 'web', life.slice(1));
  const valuesOf = (id: string) => snapshots(events, id).map(({ snapshot }) => (snapshot as { value?: unknown }).value);
  await until('the end', () => valuesOf('web/volume/data').length === 3);
  assert.deepEqual(valuesOf('web/volume/data'), [
    { mounted: 'upToDate' },
    { leaving: 'unmounting' },
    { leaving: 'unmounted' },
  ]);
  await until('the node', () => valuesOf('@node').length === 2);
  assert.deepEqual(valuesOf('@node').at(-1), { notReady: 'runtimeDown' });
  assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
});

test('a client that comes late gets definitions and places first, of pods of all shards, each under its own session', async (t) => {
  const dir = folder(t);
  const shards = [journalingShard(dir, { shard: 0 }), journalingShard(dir, { shard: 1 })];
  for (const [i, shard] of shards.entries()) {
    t.after(() => shard.close());
    await startPods(shard, [podNamed('same', `uid-${i}`)]);
  }
  const server = await served(t, { mode: 'live', dir });
  const events = received(t, server.statelyAddress);
  await until('both pods', () => actors(events).filter(({ name }) => name === 'default/same').length === 2);
  await until('their containers', () => actors(events).filter(({ parentId }) => parentId !== undefined).length === 2);
  assert.deepEqual(
    actors(events)
      .map(({ sessionId }) => sessionId)
      .filter((id) => !id.startsWith('actorlet/'))
      .sort(),
    ['uid-0', 'uid-0/container/c', 'uid-1', 'uid-1/container/c'],
  );
  const pod = actors(events).find(({ sessionId }) => sessionId === 'uid-1');
  assert.deepEqual(pod?.snapshot.value, { syncing: 'creatingCgroup' });
  assert.ok((pod?.definition ?? '').length > 500);
  assert.equal(JSON.stringify(events).includes('"settings"'), false);

  // Then what happens, to this client too.
  await feed(shards[1] ?? assert.fail(), 'uid-1', [{ type: 'pod.sync', at: 9_000 }]);
  await until('the message', () => events.some((e) => e.type === '@xstate.event' && e.sessionId === 'uid-1'));

  // And a third one that comes even later.
  const later = received(t, server.statelyAddress);
  await until('all of it again', () => actors(later).length === actors(events).length);
});

test('only one pod, with its past', async (t) => {
  const dir = folder(t);
  const [life = []] = await journalOfLives(dir, [podNamed('a'), podNamed('b')]);
  const server = await served(t, { mode: 'files', paths: [dir] });
  const events = received(t, `${server.statelyAddress}&pod=default/a&history=10`);
  await until('the past', () => events.filter((e) => e.type === '@xstate.event' && e.sessionId === 'a').length === 10);
  assert.ok(!events.some(({ sessionId }) => sessionId.startsWith('b')));
  assert.equal(snapshots(events, 'a').length, 10);
  assert.ok(life.length > 10);
});

test('without the token nobody listens, with it any page may: the token is all such a client can bring', async (t) => {
  const server = await served(t, { mode: 'live', dir: folder(t) });
  const opened = (address: string, origin?: string) =>
    new Promise<boolean>((resolve) => {
      const socket = new WebSocket(address, origin === undefined ? {} : { headers: { origin } });
      socket.on('open', () => resolve(true)).on('error', () => resolve(false));
      t.after(() => socket.terminate());
    });
  const bare = `ws://127.0.0.1:${server.port}/stately`;
  assert.equal(await opened(bare), false);
  assert.equal(await opened(`${bare}?token=wrong`), false);
  assert.equal(await opened(`${bare}?token=${TOKEN}`), true);
  assert.equal(await opened(`${bare}?token=${TOKEN}`, 'https://stately.ai'), true);
  assert.equal(await opened(bare, 'https://stately.ai'), false);
});
