import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONFIG_MAPS, objectsBench, podWith } from './objects-bench.ts';
import { until } from '../../tools/wait-for.ts';

const configMap = (name: string, data: Record<string, string>) => ({ metadata: { name, namespace: 'default' }, data });

test('strategy Get asks each time, and looks from time to time at what volumes show', async (t) => {
  const { server, store, changes } = await objectsBench(t, { strategy: 'Get', tickMs: 10 });
  server.put(CONFIG_MAPS, configMap('a', { k: '1' }));
  server.put(CONFIG_MAPS, configMap('env', { k: '1' }));
  store.register(podWith('p1', ['a'], ['env']));
  assert.deepEqual((await store.get('configMap', 'default', 'a'))?.data, { k: '1' });
  server.put(CONFIG_MAPS, configMap('env', { k: '2' }));
  assert.deepEqual((await store.get('configMap', 'default', 'env'))?.data, { k: '2' });
  server.put(CONFIG_MAPS, configMap('a', { k: '2' }));
  await until(() => changes.length > 0);
  assert.deepEqual(changes, ['configMap/a']);
  assert.equal(server.openWatches(), 0);
  const asked = server.requestsOf({ name: 'env' }).length;
  await until(() => server.requestsOf({ name: 'a' }).length > 5);
  assert.equal(server.requestsOf({ name: 'env' }).length, asked, 'variables are not looked at');
});

test("strategy Cache asks when the node's TTL is over, and for each new pod", async (t) => {
  let steady = 1000;
  let ttl: number | null = null;
  const { server, store } = await objectsBench(t, {
    strategy: 'Cache',
    steady: () => steady,
    nodeTtlSeconds: () => ttl,
  });
  const value = async () => (await store.get('configMap', 'default', 'a'))?.data['k'];
  server.put(CONFIG_MAPS, configMap('a', { k: '1' }));
  store.register(podWith('p1', ['a']));
  assert.equal(await value(), '1');
  server.put(CONFIG_MAPS, configMap('a', { k: '2' }));
  steady += 59_000;
  assert.equal(await value(), '1', 'a minute without an annotation');
  steady += 1000;
  assert.equal(await value(), '2');
  server.put(CONFIG_MAPS, configMap('a', { k: '3' }));
  ttl = 300;
  steady += 299_000;
  assert.equal(await value(), '2');
  store.register(podWith('p2', ['a']));
  assert.equal(await value(), '3', 'a new pod sees what is there');
  const queries = server.requests.map(({ query }) => query['resourceVersion']);
  assert.deepEqual(queries, [undefined, '0', undefined], "only a mere refresh may come from the server's cache");
});

test('absence is never kept, and the last content is served while the server is away', async (t) => {
  const { server, store } = await objectsBench(t, { strategy: 'Get' });
  store.register(podWith('p1', ['a']));
  assert.equal(await store.get('configMap', 'default', 'a'), null);
  server.put(CONFIG_MAPS, configMap('a', { k: '1' }));
  assert.deepEqual((await store.get('configMap', 'default', 'a'))?.data, { k: '1' });
  await server.stop();
  assert.deepEqual((await store.get('configMap', 'default', 'a'))?.data, { k: '1' });
  store.register(podWith('p2', ['b']));
  await assert.rejects(store.get('configMap', 'default', 'b'), { status: 0 });
});

test("the Node authorizer's first 403 is tried again", async (t) => {
  const { server, store } = await objectsBench(t, { strategy: 'Cache' });
  server.put(CONFIG_MAPS, configMap('a', { k: '1' }));
  server.fault({ verb: 'get' }, { do: 'fail', code: 403, reason: 'Forbidden' }, 2);
  store.register(podWith('p1', ['a']));
  assert.deepEqual((await store.get('configMap', 'default', 'a'))?.data, { k: '1' });
});
