import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import pino from 'pino';
import { WatchBackOff } from '../../../actors/cluster/api/watch-back-off.ts';
import { createApiClient } from '../../../actors/cluster/api/create-api-client.ts';
import { Reflector } from '../../../actors/cluster/api/reflector.ts';
import type { Reflected, ReflectorOptions } from '../../../actors/cluster/api/reflector.ts';
import { startFakeApiServer } from './support/fake-api-server.ts';
import { until } from '../../tools/wait-for.ts';

const pods = { group: '', version: 'v1', resource: 'pods' };
const inDefault = { ...pods, namespace: 'default' };

interface TestPod extends Reflected {
  spec?: { nodeName?: string; n?: number };
}

/** Waits in ms small enough for tests: 20 at first for each kind, then doubling. */
const quick = () => {
  const range = { firstMs: 20, maxMs: 400 };
  return new WatchBackOff({ general: range, forbidden: range, unreachable: range });
};

async function setUp(t: TestContext, more: Partial<ReflectorOptions<TestPod>> = {}) {
  const server = await startFakeApiServer();
  const warnings: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => warnings.push(line) });
  const api = createApiClient({ kubeconfig: server.kubeconfigPath, userAgent: 'x', log });
  const told: string[] = [];
  const reflector: Reflector<TestPod> = new Reflector<TestPod>({
    api,
    on: pods,
    fieldSelector: 'spec.nodeName=node1',
    log,
    backOff: quick(),
    onSync: (all) => told.push(`SYNC ${all.map((pod) => pod.metadata?.name).join(',')}`),
    onEvent: ({ type, object }) => {
      told.push(`${type} ${object.metadata?.name ?? ''}`);
      const cached = reflector.get('default', object.metadata?.name ?? '');
      assert.equal(cached, type === 'DELETED' ? undefined : object, 'the cache is changed before the event is told');
    },
    ...more,
  });
  t.after(async () => {
    reflector.stop();
    api.close();
    await server.close();
  });
  const put = (name: string, n = 0, nodeName = 'node1') =>
    server.put(pods, {
      metadata: { name, namespace: 'default', managedFields: [{ manager: 'x' }] },
      spec: { nodeName, n },
    });
  const remove = (name: string) => server.remove(inDefault, name);
  const lists = () => server.requestsOf({ verb: 'list' });
  const watches = () => server.requestsOf({ verb: 'watch' });
  const watching = () => until(() => server.openWatches() === 1, 'one open watch');
  return { server, reflector, told, put, remove, lists, watches, watching, warnings };
}

test('lists from the cache, watches with bookmarks, tells each change once', async (t) => {
  const { reflector, told, put, remove, lists, watches, watching } = await setUp(t);
  put('a');
  put('foreign', 0, 'node2');
  assert.equal(reflector.synced, false);
  reflector.start();
  await reflector.whenSynced();
  assert.equal(reflector.synced, true);
  assert.deepEqual(told, ['SYNC a']);
  await watching();
  put('b');
  put('a', 1);
  remove('b');
  put('foreign', 0, 'node1');
  put('a', 2, 'node2');
  await until(() => told.length === 6, 'five events');
  assert.deepEqual(told.slice(1), ['ADDED b', 'MODIFIED a', 'DELETED b', 'ADDED foreign', 'DELETED a']);
  assert.deepEqual(
    reflector.list().map((pod) => pod.metadata),
    [reflector.get('default', 'foreign')?.metadata],
  );
  assert.equal(JSON.stringify(reflector.list()).includes('managedFields'), false);
  assert.deepEqual(lists()[0]?.query, { fieldSelector: 'spec.nodeName=node1', resourceVersion: '0' });
  const query = watches()[0]?.query ?? {};
  assert.deepEqual(
    { ...query, timeoutSeconds: '' },
    {
      fieldSelector: 'spec.nodeName=node1',
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: '102',
      timeoutSeconds: '',
    },
  );
  const seconds = Number(query.timeoutSeconds);
  assert.ok(seconds >= 300 && seconds < 600);
  reflector.stop();
  put('c');
  await sleep(30);
  assert.equal(told.length, 6);
});

test('a watch that was cut goes on where it was, without a list', async (t) => {
  const { server, reflector, told, put, lists, watches, watching } = await setUp(t);
  reflector.start();
  await watching();
  for (const how of ['cut', 'end'] as const) {
    put(how);
    await until(() => told.at(-1) === `ADDED ${how}`, how);
    const version = String(server.store.version);
    server.cutWatches('pods', how);
    put(`${how}-later`);
    await until(() => told.at(-1) === `ADDED ${how}-later`, `${how} later`);
    assert.equal(watches().at(-1)?.query.resourceVersion, version);
    await watching();
  }
  assert.equal(lists().length, 1);
});

test('bookmarks move the version on', async (t) => {
  const { server, reflector, put, lists, watches, watching } = await setUp(t);
  reflector.start();
  await watching();
  put('foreign', 0, 'node2');
  server.bookmark();
  // Without the bookmark this would be a 410 and a new list.
  const known = () => (reflector as unknown as { version: string }).version;
  await until(() => known() === String(server.store.version), 'the bookmark is read');
  server.compact();
  server.cutWatches();
  await until(() => watches().length === 2, 'a second watch');
  assert.equal(watches()[1]?.query.resourceVersion, String(server.store.version));
  await watching();
  assert.equal(lists().length, 1);
});

for (const how of ['event', 'status'] as const) {
  test(`410 as ${how}: lists anew in chunks; what did not change stays the same object`, async (t) => {
    const { server, reflector, told, put, remove, lists, watching } = await setUp(t);
    put('kept');
    put('changed');
    put('gone');
    reflector.start();
    await watching();
    const kept = reflector.get('default', 'kept');
    put('warm');
    await until(() => told.includes('ADDED warm'), 'an event');
    server.store.version += 10;
    if (how === 'status') server.fault({ verb: 'watch' }, { do: 'fail', code: 410, reason: 'Expired' }, 1);
    server.cutWatches();
    put('changed', 1);
    remove('gone');
    for (let i = 0; i < 501; i++) put(`many-${String(i)}`);
    server.compact();
    await until(() => told.length > 2 && reflector.list().length === 504, 'the new list');
    assert.equal(reflector.get('default', 'kept'), kept);
    assert.equal(reflector.get('default', 'changed')?.spec?.n, 1);
    assert.equal(reflector.get('default', 'gone'), undefined);
    assert.equal(told.filter((each) => each.startsWith('DELETED')).length, 0);
    assert.deepEqual(
      lists()
        .slice(1)
        .map(({ query }) => [query.limit, query.resourceVersion]),
      [
        ['500', undefined],
        ['500', undefined],
      ],
    );
    assert.equal(lists()[2]?.query.continue, '500');
  });
}

test('a list whose chunks expire half-way is asked for at once', async (t) => {
  const { server, reflector, told, put, lists, watching } = await setUp(t);
  for (let i = 0; i < 600; i++) put(`many-${String(i)}`);
  reflector.start();
  await watching();
  put('warm');
  await until(() => told.includes('ADDED warm'), 'an event');
  server.reply({ verb: 'list' }, (request) => {
    if (request.query.continue !== undefined) {
      return { code: 410, body: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } };
    }
    const items = [{ metadata: { name: request.query.limit === undefined ? 'whole' : 'part', namespace: 'default' } }];
    return { code: 200, body: { metadata: { resourceVersion: '5000', continue: request.query.limit && 'x' }, items } };
  });
  server.failWatches(410, 'Expired');
  await until(() => told.at(-1) === 'SYNC whole', 'the whole list');
  assert.equal(lists().length, 4);
});

test('a server that forgets versions at once is not asked in a tight loop', async (t) => {
  const { server, reflector, lists } = await setUp(t);
  server.fault({ verb: 'watch' }, { do: 'fail', code: 410, reason: 'Expired' });
  reflector.start();
  await until(() => lists().length >= 3, 'three lists');
  await sleep(500);
  // a tight loop would make hundreds
  assert.ok(lists().length < 20, `${String(lists().length)} lists`);
  assert.equal(reflector.synced, true);
});

test('a watch that ends at once again and again is asked for with back-off', async (t) => {
  const { server, reflector, watches, put, told } = await setUp(t);
  const lift = server.fault({ verb: 'watch' }, { do: 'endAtOnce' });
  reflector.start();
  await until(() => watches().length >= 3, 'three watches');
  await sleep(500);
  assert.ok(watches().length < 20, `${String(watches().length)} watches`);
  lift();
  put('a');
  await until(() => told.includes('ADDED a'), 'the event');
});

test('failures of list and watch change nothing in the cache and are tried again', async (t) => {
  const { server, reflector, told, put, remove, lists, watches, watching, warnings } = await setUp(t);
  put('a');
  server.fault({ verb: 'list' }, { do: 'fail', code: 500 }, 1);
  server.fault({ verb: 'list' }, { do: 'fail', code: 403, reason: 'Forbidden' }, 1);
  server.fault({ verb: 'list' }, { do: 'drop' }, 1);
  server.fault({ verb: 'watch' }, { do: 'fail', code: 503 }, 1);
  reflector.start();
  await until(() => reflector.lastError?.status === 500, 'the failure is shown');
  await watching();
  // The server has the watch before the client has its answer.
  await until(() => reflector.lastError === undefined, 'the failure is over');
  assert.deepEqual(told, ['SYNC a']);
  assert.equal(lists().length, 4);
  assert.equal(watches().length, 2);
  // The broken connection was the client's to notice: it sent the list once more.
  assert.equal(warnings.length, 3);
  const lift = server.fault({}, { do: 'fail', code: 500 });
  server.failWatches(500, 'InternalError');
  remove('a');
  put('b');
  await until(() => reflector.lastError?.status === 500, 'the failure is shown');
  await sleep(50);
  assert.deepEqual(
    reflector.list().map((pod) => pod.metadata?.name),
    ['a'],
  );
  lift();
  await until(() => told.length === 3, 'both changes');
  assert.deepEqual(told.slice(1), ['DELETED a', 'ADDED b']);
  assert.equal(lists().length, 4, 'no new list: the watch goes on where it was');
});

test('a server that goes away and comes back, with less than before', async (t) => {
  const { server, reflector, told, put, remove, watching } = await setUp(t);
  put('a');
  put('b');
  reflector.start();
  await watching();
  await server.stop();
  await until(() => reflector.lastError?.status === 0, 'the absence is seen');
  assert.equal(reflector.list().length, 2);
  remove('a');
  server.compact();
  await server.start();
  await until(() => told.at(-1) === 'SYNC b', 'the new list');
  put('c');
  await until(() => told.at(-1) === 'ADDED c', 'the new watch');
});

test('a slow server only costs time; a listener that throws costs nothing', async (t) => {
  const told: string[] = [];
  const { server, reflector, put } = await setUp(t, {
    onSync: () => {
      throw new Error('listener');
    },
    onEvent: ({ object }) => {
      told.push(object.metadata?.name ?? '');
      throw new Error('listener');
    },
  });
  server.fault({ verb: 'list' }, { do: 'delay', ms: 150 }, 1);
  server.fault({ verb: 'watch' }, { do: 'delay', ms: 150 }, 1);
  reflector.start();
  await reflector.whenSynced();
  put('a');
  put('b');
  await until(() => told.length === 2, 'both events');
  assert.deepEqual(told, ['a', 'b']);
});

test('one object by name, in a namespace, transformed', async (t) => {
  const { server, reflector, lists } = await setUp(t, {
    on: { group: '', version: 'v1', resource: 'secrets', namespace: 'default' },
    fieldSelector: 'metadata.name=mine',
    transform: (object) => ({ metadata: object.metadata }),
    onEvent: undefined,
  });
  const secrets = { group: '', version: 'v1', resource: 'secrets' };
  server.put(secrets, { metadata: { name: 'mine', namespace: 'default' }, data: { a: 'AA==' } });
  server.put(secrets, { metadata: { name: 'other', namespace: 'default' } });
  reflector.start();
  await reflector.whenSynced();
  assert.equal(lists()[0]?.path, '/api/v1/namespaces/default/secrets');
  assert.deepEqual(Object.keys(reflector.get('default', 'mine') ?? {}), ['metadata']);
  assert.equal(reflector.list().length, 1);
});

test('property: after any changes and faults the cache is what the server has', async (t) => {
  const { server, reflector, put, remove, watching } = await setUp(t, { onEvent: undefined, onSync: undefined });
  reflector.start();
  await watching();
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('put'), name: fc.constantFrom('a', 'b', 'c'), n: fc.nat(3) }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('remove'), name: fc.constantFrom('a', 'b', 'c'), n: fc.nat(1) }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('cut', 'end', 'compact', 'expire', 'bookmark', 'wait') }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      for (const each of steps) {
        if ('name' in each) {
          if (each.do === 'put') put(each.name, each.n);
          else remove(each.name);
        } else if (each.do === 'cut' || each.do === 'end') server.cutWatches('pods', each.do);
        else if (each.do === 'compact') server.compact();
        else if (each.do === 'expire') server.failWatches(410, 'Expired');
        else if (each.do === 'bookmark') server.bookmark();
        else await sleep(1);
      }
      const has = (all: TestPod[]) =>
        all
          .map(({ metadata }) => `${metadata?.name ?? ''} ${metadata?.resourceVersion ?? ''}`)
          .toSorted()
          .join();
      const wanted = has(server.store.list({ collection: '/v1/pods' }));
      await until(() => has(reflector.list()) === wanted, `the same objects: ${wanted}`);
    }),
    { numRuns: 25 },
  );
});
