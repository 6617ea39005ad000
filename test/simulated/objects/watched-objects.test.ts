import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONFIG_MAPS, objectsBench, podWith, SECRETS } from './objects-bench.ts';
import { PATIENCE_MS, until } from '../../tools/wait-for.ts';

const configMap = (name: string, data: Record<string, string>, more: object = {}) => ({
  metadata: { name, namespace: 'default' },
  data,
  ...more,
});
const base64 = (text: string) => Buffer.from(text).toString('base64');

test('one watch serves all pods that name an object, and tells what changes', async (t) => {
  const { server, store, changes } = await objectsBench(t);
  server.put(CONFIG_MAPS, configMap('a', { k: '1' }));
  store.register(podWith('p1', ['a']));
  store.register(podWith('p2', [], ['a']));
  assert.deepEqual(await store.get('configMap', 'default', 'a'), { data: { k: '1' }, binaryData: {}, type: '' });
  server.put(CONFIG_MAPS, configMap('a', { k: '2' }));
  await until(() => changes.length > 0);
  assert.deepEqual((await store.get('configMap', 'default', 'a'))?.data, { k: '2' });
  assert.deepEqual(changes, ['configMap/a']);
  assert.deepEqual(store.podsShowing('configMap', 'default', 'a'), ['p1'], 'p2 only reads variables of it');
  assert.equal(server.requests.length, 1, 'one call in all');
  assert.equal(server.requests[0]?.query['fieldSelector'], 'metadata.name=a');
});

test('a change of labels alone is no change for pods', async (t) => {
  const { server, store, changes } = await objectsBench(t);
  server.put(CONFIG_MAPS, configMap('a', { k: '1' }));
  store.register(podWith('p1', ['a']));
  await store.get('configMap', 'default', 'a');
  server.put(CONFIG_MAPS, { ...configMap('a', { k: '1' }), metadata: { name: 'a', namespace: 'default', labels: {} } });
  server.put(CONFIG_MAPS, configMap('a', { k: '3' }));
  await until(() => changes.length > 0);
  await store.get('configMap', 'default', 'a');
  assert.equal(changes.length, 1);
});

test('absence is checked; a created object is told at once, a deleted one too', async (t) => {
  const { server, store, changes } = await objectsBench(t);
  store.register(podWith('p1', ['late']));
  assert.equal(await store.get('configMap', 'default', 'late'), null);
  assert.equal(server.requestsOf({ verb: 'get', resource: 'configmaps', name: 'late' }).length, 1);
  server.put(CONFIG_MAPS, configMap('late', { k: 'v' }));
  await until(() => changes.length === 1);
  assert.deepEqual((await store.get('configMap', 'default', 'late'))?.data, { k: 'v' });
  server.remove(CONFIG_MAPS, 'late');
  await until(() => changes.length === 2);
  assert.equal(await store.get('configMap', 'default', 'late'), null);
});

test("an object that the server's cache does not hold yet is found by the check", async (t) => {
  const { server, store } = await objectsBench(t);
  server.reply({ verb: 'get', resource: 'configmaps', name: 'new' }, () => ({
    code: 200,
    body: configMap('new', { k: 'fresh' }, { metadata: { name: 'new', uid: 'u', resourceVersion: '9' } }),
  }));
  store.register(podWith('p1', ['new']));
  assert.deepEqual((await store.get('configMap', 'default', 'new'))?.data, { k: 'fresh' });
});

test("a secret's values are decoded, what is no text stays base64, and nothing is logged", async (t) => {
  const { server, store, logged } = await objectsBench(t);
  const bytes = Buffer.from([0xff, 0xfe, 0x00]).toString('base64');
  server.put(SECRETS, {
    metadata: { name: 's', namespace: 'default' },
    data: { word: base64('hush-hush'), raw: bytes, empty: '' },
    type: 'Opaque',
  } as object);
  store.register(podWith('p1', ['secret:s']));
  const { uid, ...content } = (await store.get('secret', 'default', 's')) ?? { uid: undefined };
  assert.match(uid ?? '', /./, 'pulls are recorded by it');
  assert.deepEqual(content, {
    data: { word: 'hush-hush', empty: '' },
    binaryData: { raw: bytes },
    type: 'Opaque',
  });
  server.failWatches(500, 'InternalError');
  await until(() => server.requestsOf({ verb: 'watch' }).length > 1);
  assert.ok(logged.length > 0);
  assert.doesNotMatch(logged.join(''), /hush|aHVza/);
});

test('a watch of an immutable object ends once it was seen', async (t) => {
  const { server, store } = await objectsBench(t);
  server.put(CONFIG_MAPS, configMap('fixed', { k: '1' }, { immutable: true }));
  store.register(podWith('p1', ['fixed']));
  assert.deepEqual((await store.get('configMap', 'default', 'fixed'))?.data, { k: '1' });
  await until(() => server.openWatches() === 0);
  store.register(podWith('p2', ['fixed']));
  assert.deepEqual((await store.get('configMap', 'default', 'fixed'))?.data, { k: '1' });
  await sleep(50);
  assert.equal(server.requests.length, 1);
});

test("the Node authorizer's first 403 answers cost little", async (t) => {
  const { server, store } = await objectsBench(t);
  server.put(CONFIG_MAPS, configMap('a', { k: '1' }));
  server.fault({ verb: 'watch' }, { do: 'fail', code: 403, reason: 'Forbidden' }, 2);
  store.register(podWith('p1', ['a']));
  assert.deepEqual((await store.get('configMap', 'default', 'a'))?.data, { k: '1' });
  const [first, second, third] = server.requests.map(({ at }) => at);
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  assert.ok(second - first >= 45 && third - second >= 90, `${second - first} ${third - second}`);
});

test('no answer in time is told in the words of kubelet; the next ask finds what came meanwhile', async (t) => {
  const { server, store } = await objectsBench(t, { getTimeoutMs: 400 });
  server.put(CONFIG_MAPS, configMap('a', { k: '1' }));
  const lift = server.fault({ verb: 'watch' }, { do: 'fail', code: 500 });
  store.register(podWith('p1', ['a'], ['secret:s']));
  await assert.rejects(store.get('configMap', 'default', 'a'), {
    code: 'Timeout',
    message: 'failed to sync configmap cache: timed out waiting for the condition',
  });
  await assert.rejects(store.get('secret', 'default', 's'), /failed to sync secret cache: timed out/);
  lift();
  // An ask that finds nothing in time yet fails like those before.
  await until(async () => (await store.get('configMap', 'default', 'a'))?.data['k'] === '1', 'what came meanwhile');
});

test('while the server is away the last content is served; what changed meanwhile is told when it is back', async (t) => {
  const { server, store, changes } = await objectsBench(t);
  server.put(CONFIG_MAPS, configMap('a', { k: '1' }));
  server.put(CONFIG_MAPS, configMap('b', { k: '1' }));
  store.register(podWith('p1', ['a', 'b']));
  await store.get('configMap', 'default', 'a');
  await store.get('configMap', 'default', 'b');
  await server.stop();
  assert.deepEqual((await store.get('configMap', 'default', 'a'))?.data, { k: '1' });
  server.put(CONFIG_MAPS, configMap('a', { k: '2' }));
  server.remove(CONFIG_MAPS, 'b');
  // The versions that the watches know are forgotten: they begin anew.
  server.compact();
  await server.start();
  await until(() => changes.length === 2);
  assert.deepEqual((await store.get('configMap', 'default', 'a'))?.data, { k: '2' });
  assert.equal(await store.get('configMap', 'default', 'b'), null);
});

test('a watch that ended goes on where it was', async (t) => {
  const { server, store, changes } = await objectsBench(t);
  server.put(CONFIG_MAPS, configMap('a', { k: '1' }));
  store.register(podWith('p1', ['a']));
  await store.get('configMap', 'default', 'a');
  await until(() => server.openWatches() === 1);
  await sleep(20);
  server.cutWatches(undefined, 'end');
  server.put(CONFIG_MAPS, configMap('a', { k: '2' }));
  await until(() => changes.length === 1);
  const [, again] = server.requestsOf({ verb: 'watch' });
  assert.equal(again?.query['sendInitialEvents'], undefined);
  assert.notEqual(again?.query['resourceVersion'] ?? '0', '0');
});

test('a server without streaming lists is listed first', async (t) => {
  const { server, store, changes } = await objectsBench(t);
  server.put(CONFIG_MAPS, configMap('a', { k: '1' }));
  server.fault({ verb: 'watch' }, { do: 'fail', code: 422, reason: 'Invalid' }, 1);
  store.register(podWith('p1', ['a']));
  assert.deepEqual((await store.get('configMap', 'default', 'a'))?.data, { k: '1' });
  await until(() => server.openWatches() === 1);
  server.put(CONFIG_MAPS, configMap('a', { k: '2' }));
  await until(() => changes.length === 1);
  assert.deepEqual(
    server.requests.map(({ verb }) => verb),
    ['watch', 'list', 'watch'],
  );
});

test('with its last pod a secret goes at once, a configMap stays for a while: a pod in between finds it there', async (t) => {
  const { server, store } = await objectsBench(t, { lingerMs: PATIENCE_MS });
  server.put(CONFIG_MAPS, configMap('a', { k: '1' }));
  server.put(SECRETS, { metadata: { name: 's', namespace: 'default' } });
  store.register(podWith('p1', ['a', 'secret:s']));
  await store.get('configMap', 'default', 'a');
  await store.get('secret', 'default', 's');
  store.unregister('p1');
  await until(() => server.openWatches('secrets') === 0);
  await assert.rejects(store.get('secret', 'default', 's'), {
    code: 'NotRegistered',
    message: 'object "default"/"s" not registered',
  });
  assert.equal(server.openWatches('configmaps'), 1);
  store.register(podWith('p2', ['a']));
  assert.deepEqual((await store.get('configMap', 'default', 'a'))?.data, { k: '1' });
  assert.equal(server.requestsOf({ resource: 'configmaps' }).length, 1);
});

test('after a while without a pod a configMap goes', async (t) => {
  const { server, store } = await objectsBench(t, { lingerMs: 80 });
  server.put(CONFIG_MAPS, configMap('a', { k: '1' }));
  store.register(podWith('p1', ['a']));
  await store.get('configMap', 'default', 'a');
  store.unregister('p1');
  await until(() => server.openWatches() === 0);
});

test('an updated pod lets go of what it no longer names', async (t) => {
  const { server, store } = await objectsBench(t);
  store.register(podWith('p1', ['secret:a'], ['secret:b']));
  await store.get('secret', 'default', 'a');
  await store.get('secret', 'default', 'b');
  store.register(podWith('p1', ['secret:b']));
  await until(() => server.openWatches() === 1);
  await assert.rejects(store.get('secret', 'default', 'a'), { code: 'NotRegistered' });
  assert.deepEqual(store.podsShowing('secret', 'default', 'b'), ['p1']);
});

test('what only variables use is no longer watched after some idle minutes, and fetched anew when asked', async (t) => {
  let steady = 0;
  const { server, store } = await objectsBench(t, { steady: () => steady, tickMs: 10 });
  server.put(CONFIG_MAPS, configMap('env', { k: '1' }));
  server.put(CONFIG_MAPS, configMap('file', { k: '1' }));
  store.register(podWith('p1', ['file'], ['env']));
  await store.get('configMap', 'default', 'env');
  await store.get('configMap', 'default', 'file');
  steady = 6 * 60_000;
  await until(() => server.openWatches() === 1);
  server.put(CONFIG_MAPS, configMap('env', { k: '2' }));
  assert.deepEqual((await store.get('configMap', 'default', 'env'))?.data, { k: '2' });
  assert.equal(server.openWatches(), 2);
});
