import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import type { ApiClient, ApiRequest } from '../../../actors/cluster/api/api-client.ts';
import { LineQueue } from '../../../actors/node/fleet/line-queue.ts';
import { NodeApi } from '../../../actors/node/fleet/node-api.ts';
import { SharedWatches } from '../../../actors/node/fleet/shared-watches.ts';

const PODS = { group: '', version: 'v1', resource: 'pods' };
const log = pino({ level: 'silent' });

interface Line {
  type: string;
  object: { metadata: { name: string; resourceVersion: string } };
}

/** An API server with one list of pods and one watch of it, which counts what it is asked. */
class Upstream implements ApiClient {
  readonly asked: ApiRequest[] = [];
  readonly queue = new LineQueue<unknown>();
  private readonly items: object[];

  constructor(items: object[]) {
    this.items = items;
  }

  request<T>(request: ApiRequest): Promise<T> {
    this.asked.push(request);
    return Promise.resolve({ metadata: { resourceVersion: '5' }, items: this.items } as T);
  }

  stream(request: ApiRequest): Promise<AsyncIterable<unknown>> {
    this.asked.push(request);
    request.signal?.addEventListener('abort', () => this.queue.end(), { once: true });
    return Promise.resolve(this.queue.read(() => undefined));
  }

  limited(): ApiClient {
    return this;
  }

  close(): void {
    this.queue.end();
  }
}

function pod(name: string, nodeName: string, version: number) {
  return { metadata: { name, namespace: 'd', uid: name, resourceVersion: String(version) }, spec: { nodeName } };
}

const listOf = (node: string): ApiRequest => ({
  method: 'GET',
  on: PODS,
  query: { fieldSelector: `spec.nodeName=${node}` },
});
const watchOf = (node: string, resourceVersion: string): ApiRequest => ({
  ...listOf(node),
  query: { fieldSelector: `spec.nodeName=${node}`, watch: 'true', resourceVersion },
});

async function settled(): Promise<void> {
  for (let i = 0; i < 10; i++) await turn();
}

/** Reads a watch into a list of words. */
function follow(lines: AsyncIterable<unknown>): string[] {
  const seen: string[] = [];
  void (async () => {
    for await (const line of lines) {
      const { type, object } = line as Line;
      seen.push(`${type} ${object.metadata.name}@${object.metadata.resourceVersion}`);
    }
    seen.push('end');
  })();
  return seen;
}

async function listed(api: ApiClient, node: string): Promise<{ names: string[]; version: string }> {
  const { items, metadata } = await api.request<{ items: Line['object'][]; metadata: { resourceVersion: string } }>(
    listOf(node),
  );
  return { names: items.map(({ metadata: { name } }) => name), version: metadata.resourceVersion };
}

test('two nodes share a list and a watch, and each hears of its own pods alone', async (t) => {
  const upstream = new Upstream([pod('a', 'one', 1), pod('b', 'two', 2)]);
  const shared = new SharedWatches(upstream, log);
  t.after(() => shared.stop());
  const [one, two] = [new NodeApi(upstream, shared), new NodeApi(upstream, shared)];
  assert.deepEqual((await listed(one, 'one')).names, ['a']);
  const { names, version } = await listed(two, 'two');
  assert.deepEqual(names, ['b']);
  // What comes between a list and its watch is not lost.
  upstream.queue.put({ type: 'MODIFIED', object: pod('b', 'two', 6) });
  upstream.queue.put({ type: 'ADDED', object: pod('c', 'one', 7) });
  await settled();
  const seen = follow(await two.stream(watchOf('two', version)));
  upstream.queue.put({ type: 'DELETED', object: pod('b', 'two', 8) });
  await settled();
  assert.deepEqual(seen, ['MODIFIED b@6', 'DELETED b@8']);
  assert.equal(upstream.asked.length, 2, 'one list, one watch');
  assert.equal(upstream.asked[0]?.query?.['fieldSelector'], 'spec.nodeName!=');
  assert.deepEqual((await listed(one, 'one')).names, ['a', 'c']);
});

test('a watch goes on from a list alone', async (t) => {
  const upstream = new Upstream([]);
  const shared = new SharedWatches(upstream, log);
  t.after(() => shared.stop());
  const api = new NodeApi(upstream, shared);
  await assert.rejects(api.stream(watchOf('one', '17')), { status: 410 });
  const { version } = await listed(api, 'one');
  follow(await api.stream(watchOf('one', version)));
  await assert.rejects(api.stream(watchOf('one', version)), { status: 410 });
});

test('a node whose network is cut hears nothing and reaches nobody; others go on', async (t) => {
  const upstream = new Upstream([]);
  const shared = new SharedWatches(upstream, log);
  t.after(() => shared.stop());
  const [cut, other] = [new NodeApi(upstream, shared), new NodeApi(upstream, shared)];
  const [mine, theirs] = [
    follow(await cut.stream(watchOf('one', (await listed(cut, 'one')).version))),
    follow(await other.stream(watchOf('two', (await listed(other, 'two')).version))),
  ];
  cut.cut();
  upstream.queue.put({ type: 'ADDED', object: pod('a', 'one', 6) });
  upstream.queue.put({ type: 'ADDED', object: pod('b', 'two', 7) });
  await settled();
  assert.deepEqual(mine, ['end']);
  assert.deepEqual(theirs, ['ADDED b@7']);
  await assert.rejects(cut.limited(5, 5).request(listOf('one')), { reason: 'Unreachable' });
  cut.mend();
  assert.deepEqual((await listed(cut, 'one')).names, ['a']);
});

test('an object of the same name that comes in the place of another is told as its end and its beginning', async (t) => {
  const upstream = new Upstream([pod('a', 'one', 1)]);
  const shared = new SharedWatches(upstream, log);
  t.after(() => shared.stop());
  const api = new NodeApi(upstream, shared);
  const seen = follow(await api.stream(watchOf('one', (await listed(api, 'one')).version)));
  const successor = pod('a', 'one', 9);
  upstream.queue.put({ type: 'MODIFIED', object: { ...successor, metadata: { ...successor.metadata, uid: 'other' } } });
  await settled();
  assert.deepEqual(seen, ['DELETED a@1', 'ADDED a@9']);
});

test('versions of a pod share what has not changed, and the status that its node told', async (t) => {
  const told = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  const status = () => structuredClone(told);
  const upstream = new Upstream([{ ...pod('a', 'one', 1), status: { phase: 'Pending' } }]);
  const shared = new SharedWatches(upstream, log, (node, uid) => (node === 'one' && uid === 'a' ? told : undefined));
  t.after(() => shared.stop());
  const read = async () => {
    const request = listOf('one');
    return (await new NodeApi(upstream, shared).request<{ items: { spec: object; status: object }[] }>(request))
      .items[0];
  };
  const before = await read();
  upstream.queue.put({ type: 'MODIFIED', object: { ...pod('a', 'one', 2), status: status() } });
  await settled();
  const after = await read();
  assert.equal(after?.spec, before?.spec);
  assert.deepEqual(before?.status, { phase: 'Pending' });
  assert.equal(after?.status, told);
});

test('who waits for the first list gets it however long the server was away', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const upstream = new Upstream([pod('a', 'n1', 3)]);
  const back = Promise.withResolvers<undefined>();
  const asked = t.mock.method(upstream, 'request', async () => {
    await back.promise;
    return { metadata: { resourceVersion: '5' }, items: [pod('a', 'n1', 3)] };
  });
  const shared = new SharedWatches(upstream, log);
  const answer = listed(new NodeApi(upstream, shared), 'n1');
  await settled();
  assert.equal(asked.mock.callCount(), 1);
  for (; now < 300_000; now += 30_000) t.mock.timers.tick(30_000);
  back.resolve(undefined);
  const names = await Promise.race([answer.then((list) => list.names), settled().then(() => 'no answer')]);
  assert.deepEqual(names, ['a']);
  shared.stop();
});

test('what a node asks when its network is cut is given up, and never answered', async () => {
  const upstream = new Upstream([]);
  let given: AbortSignal | undefined;
  upstream.request = <T>({ signal }: ApiRequest): Promise<T> => {
    given = signal;
    return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('given up'))));
  };
  const node = new NodeApi(upstream, new SharedWatches(upstream, log));
  const patch: ApiRequest = { method: 'PATCH', on: PODS, name: 'a', subresource: 'status', body: {} };
  const asked = node.request(patch);
  node.cut();
  assert.equal(given?.aborted, true);
  await assert.rejects(asked, { reason: 'Unreachable' });
  node.mend();
  const abort = new AbortController();
  const again = node.request({ ...patch, signal: abort.signal });
  abort.abort();
  await assert.rejects(again, /given up/);
});
