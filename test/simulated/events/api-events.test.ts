import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { createApiClient } from '../../../actors/cluster/api/create-api-client.ts';
import { ApiEvents } from '../../../actors/cluster/events/api-events.ts';
import type { ApiClient } from '../../../actors/cluster/api/api-client.ts';
import type { ApiEventsOptions } from '../../../actors/cluster/events/api-events.ts';
import { EventRecorder } from '../../../actors/cluster/events/event-recorder.ts';
import type { RecordedEvent } from '../../../machines/protocol/recorded-event.ts';
import { startFakeApiServer } from '../api/support/fake-api-server.ts';
import { until } from '../../tools/wait-for.ts';

const EVENTS = { group: '', version: 'v1', resource: 'events' };

async function setUp(t: TestContext, options: Partial<ApiEventsOptions> = {}) {
  const server = await startFakeApiServer();
  t.after(() => server.close());
  const client = createApiClient({
    kubeconfig: server.kubeconfigPath,
    userAgent: 'test',
    log: pino({ level: 'silent' }),
  });
  t.after(() => client.close());
  const limits: [number, number][] = [];
  const api: ApiClient = {
    ...client,
    limited: (...limit) => {
      limits.push(limit);
      return client.limited(...limit);
    },
  };
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const events = new ApiEvents({
    api,
    nodeName: 'node-1',
    qps: 0,
    burst: 0,
    log,
    now: Date.now,
    retryMs: 10,
    ...options,
  });
  t.after(() => events.stop());
  return { server, limits, events, lines, said: (text: string) => lines.filter((line) => line['msg'] === text) };
}

function event(changes: Partial<RecordedEvent> = {}): RecordedEvent {
  return {
    object: { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web', uid: 'u1' },
    at: Date.now(),
    type: 'Normal',
    reason: 'Started',
    message: 'Container started',
    ...changes,
  };
}

test('an event is created in the namespace of its pod, within the limits of the configuration', async (t) => {
  const { server, limits, events } = await setUp(t, { qps: 50, burst: 100 });
  events.record(event());
  await until(() => events.counts.created === 1);
  assert.deepEqual(limits, [[50, 100]]);
  const [request] = server.requestsOf({ resource: 'events' });
  assert.equal(request?.method, 'POST');
  assert.equal(request.namespace, 'shop');
  const name = (request.body as { metadata: { name: string } }).metadata.name;
  const stored = server.get({ ...EVENTS, namespace: 'shop' }, name) as unknown as Record<string, unknown>;
  assert.equal(stored['reason'], 'Started');
  assert.equal(stored['count'], 1);
});

test('an event that makes no sense ends none of those that come after it', async (t) => {
  const { events, said } = await setUp(t);
  events.record(event({ object: undefined as never }));
  events.record(event());
  await until(() => events.counts.created === 1);
  assert.equal(events.counts.failed, 1);
  assert.equal(said('Unable to record event').length, 1);
});

test('what comes again is one event with a count, sent in order', async (t) => {
  const { server, events } = await setUp(t);
  for (let i = 0; i < 4; i++) events.record(event());
  events.record(event({ reason: 'Killing', message: 'Stopping' }));
  await until(() => events.counts.created === 2);
  assert.equal(events.counts.patched, 3);
  const requests = server.requestsOf({ resource: 'events' });
  assert.deepEqual(
    requests.map((request) => request.method),
    ['POST', 'PATCH', 'PATCH', 'PATCH', 'POST'],
  );
  assert.deepEqual(Object.keys(requests[1]?.body as object).sort(), ['count', 'lastTimestamp', 'message']);
  const stored = server.get({ ...EVENTS, namespace: 'shop' }, requests[1]?.name ?? '') as unknown as { count: number };
  assert.equal(stored.count, 4);
});

test('an event that has expired on the API server is made again with its count', async (t) => {
  const { server, events } = await setUp(t);
  events.record(event());
  await until(() => events.counts.created === 1);
  const first = server.requestsOf({ resource: 'events' })[0]?.body as { metadata: { name: string } };
  server.remove({ ...EVENTS, namespace: 'shop' }, first.metadata.name);
  events.record(event());
  await until(() => events.counts.created === 2);
  const stored = server.get({ ...EVENTS, namespace: 'shop' }, first.metadata.name) as unknown as { count: number };
  assert.equal(stored.count, 2);
});

test('while the API server is away events wait, and come in order when it is back', async (t) => {
  const { server, events, said } = await setUp(t);
  await server.stop();
  for (let i = 0; i < 3; i++) events.record(event({ message: `m${i}` }));
  await until(() => said('Unable to write event (may retry after sleeping)').length >= 3);
  assert.equal(events.counts.created, 0);
  await server.start();
  await until(() => events.counts.created === 3);
  const messages = server
    .requestsOf({ resource: 'events', method: 'POST' })
    .map((request) => (request.body as { message: string }).message);
  assert.deepEqual(messages, ['m0', 'm1', 'm2']);
});

test('after twelve tries an event is given up and the next one has its turn', async (t) => {
  const { server, events, said } = await setUp(t, { retryMs: 1 });
  server.fault({ resource: 'events', method: 'POST' }, { do: 'drop' }, 12);
  events.record(event({ message: 'lost' }));
  events.record(event({ message: 'kept' }));
  await until(() => events.counts.created === 1);
  assert.equal(events.counts.failed, 1);
  assert.equal(server.requestsOf({ resource: 'events' }).length, 13);
  assert.equal(said('Unable to write event (retry limit exceeded!)').length, 1);
});

test('what the API server refuses is not tried again; a namespace that goes away is no error', async (t) => {
  const { server, events, lines } = await setUp(t);
  const message = 'unable to create new content in namespace shop because it is being terminated';
  server.fault({ resource: 'events' }, { do: 'fail', code: 403, reason: 'Forbidden', message }, 1);
  events.record(event({ message: 'a' }));
  await until(() => events.counts.rejected === 1);
  server.fault({ resource: 'events' }, { do: 'fail', code: 422, reason: 'Invalid', message: 'no' }, 1);
  events.record(event({ message: 'b' }));
  await until(() => events.counts.rejected === 2);
  assert.equal(server.requestsOf({ resource: 'events' }).length, 2);
  const refusals = lines.filter((line) => line['msg'] === 'Server rejected event (will not retry!)');
  assert.deepEqual(
    refusals.map((line) => line['level']),
    [20, 50],
  );
});

test('a server that asks to wait is asked again', async (t) => {
  const { server, events } = await setUp(t);
  server.fault({ resource: 'events' }, { do: 'fail', code: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 }, 1);
  events.record(event());
  await until(() => events.counts.created === 1);
  assert.equal(server.requestsOf({ resource: 'events' }).length, 2);
});

test('a full queue drops the newest and says so once, with the number when it is over', async (t) => {
  const { server, events, said } = await setUp(t);
  await server.stop();
  for (let i = 0; i < 1_011; i++) {
    const object = { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: `p${i}`, uid: `u${i}` } as const;
    events.record(event({ object }));
  }
  // The first is on its way, a thousand wait.
  assert.equal(events.counts.dropped, 10);
  assert.equal(said('Unable to record event: too many queued events, dropped event').length, 1);
  await server.start();
  await until(() => events.counts.created === 1_001);
  assert.deepEqual(
    said('Events were dropped while too many were queued').map((line) => line['dropped']),
    [10],
  );
});

test('stop ends the waiting and the request that is on its way', async (t) => {
  const { server, events } = await setUp(t, { retryMs: 3_600_000, random: () => 1 });
  server.fault({ resource: 'events' }, { do: 'hang' });
  events.record(event({ message: 'a' }));
  events.record(event({ message: 'b' }));
  await until(() => server.requestsOf({ resource: 'events' }).length === 1);
  events.stop();
  events.record(event({ message: 'c' }));
  await sleep(20);
  assert.equal(server.requestsOf({ resource: 'events' }).length, 1);
  const waiting = await setUp(t, { retryMs: 3_600_000, random: () => 1 });
  await waiting.server.stop();
  waiting.events.record(event());
  await until(() => waiting.said('Unable to write event (may retry after sleeping)').length === 1);
  waiting.events.stop();
});

test('the recorder gives events of pods and of the node to its sinks, its listeners and the log', () => {
  const lines: Record<string, unknown>[] = [];
  const recorder = new EventRecorder(pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }));
  const got: RecordedEvent[] = [];
  const heard: string[] = [];
  const remove = recorder.addSink({ record: (each) => void got.push(each) });
  recorder.listen((each) => void heard.push(each.reason));
  const report = { uid: 'u1', namespace: 'shop', name: 'web', at: 7, type: 'Normal', reason: 'Pulled' } as const;
  recorder.record({ ...report, message: 'm', fieldPath: 'spec.containers{a}' });
  const object = { apiVersion: 'v1', kind: 'Node', namespace: '', name: 'node-1', uid: 'node-1' } as const;
  recorder.record({ object, at: 8, type: 'Normal', reason: 'Starting', message: 'Starting kubelet.' });
  remove();
  recorder.record({ ...report, message: 'n' });
  assert.deepEqual(got[0], {
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      namespace: 'shop',
      name: 'web',
      uid: 'u1',
      fieldPath: 'spec.containers{a}',
    },
    at: 7,
    type: 'Normal',
    reason: 'Pulled',
    message: 'm',
  });
  assert.equal(got.length, 2);
  assert.deepEqual(heard, ['Pulled', 'Pulled']);
  assert.equal(recorder.recent().length, 2);
  assert.deepEqual(
    lines.map((line) => line['object']),
    ['shop/web', 'node-1', 'shop/web'],
  );
});
