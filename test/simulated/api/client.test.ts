import assert from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { ApiStatusError } from '../../../actors/cluster/api/api-client.ts';
import { createApiClient } from '../../../actors/cluster/api/create-api-client.ts';
import type { ApiClientOptions, Lanes, RequestSeen } from '../../../actors/cluster/api/create-api-client.ts';
import { loadKubeconfig } from '../../../actors/cluster/api/kubeconfig.ts';
import { startFakeApiServer } from './support/fake-api-server.ts';
import type { FakeApiServer, FakeApiServerOptions } from './support/fake-api-server.ts';
import { makeCertificate } from './support/test-certificates.ts';
import { until } from '../../tools/wait-for.ts';

const log = pino({ level: 'silent' });
const pods = { group: '', version: 'v1', resource: 'pods', namespace: 'default' };
const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases', namespace: 'kube-node-lease' };

async function setUp(
  t: TestContext,
  transport: FakeApiServerOptions['transport'],
  more: Partial<ApiClientOptions> = {},
) {
  const server = await startFakeApiServer({ transport });
  const seen: RequestSeen[] = [];
  const api = createApiClient({
    kubeconfig: server.kubeconfigPath,
    userAgent: 'actorlet-test',
    log,
    onRequest: (request) => seen.push(request),
    ...more,
  });
  t.after(async () => {
    api.close();
    await server.close();
  });
  return { server, api, seen };
}

function putPod(server: FakeApiServer, name: string) {
  return server.put(pods, { metadata: { name, namespace: 'default' }, spec: { nodeName: 'node1' } });
}

const refused =
  (status: number, reason: string, more: Partial<ApiStatusError> = {}) =>
  (error: unknown) => {
    assert.ok(error instanceof ApiStatusError, String(error));
    assert.deepEqual({ status: error.status, reason: error.reason }, { status, reason });
    for (const [key, value] of Object.entries(more)) assert.equal(error[key as keyof ApiStatusError], value);
    return true;
  };

test('requests take their turn in the lanes that they share, and leave them however they end; watches take none', async (t) => {
  const asked: string[] = [];
  let inside = 0;
  const enter: Lanes['enter'] = async ({ method }) => {
    asked.push(method);
    inside++;
    if (method === 'DELETE') await sleep(300);
    return () => inside--;
  };
  const { server, api } = await setUp(t, 'http', { lanes: { enter, isCrowded: () => inside > 1 } });
  putPod(server, 'a');
  await api.request({ method: 'GET', on: pods, name: 'a' });
  // The wait for its turn is longer than the server may take.
  const late = api.limited(50, 100).request({ method: 'DELETE', on: pods, name: 'none', timeoutMs: 200 });
  await assert.rejects(late, refused(404, 'NotFound'));
  const watching = new AbortController();
  await api.stream({ method: 'GET', on: pods, query: { watch: 'true' }, signal: watching.signal });
  watching.abort();
  assert.deepEqual([asked, inside, api.isCrowded?.()], [['GET', 'DELETE'], 0, false]);
});

for (const transport of ['http', 'https', 'h2'] as const) {
  test(`${transport}: create, get, patch, delete, watch; one client certificate; few connections`, async (t) => {
    const { server, api, seen } = await setUp(t, transport);
    await api.request({
      method: 'POST',
      on: leases,
      body: { metadata: { name: 'node1' }, spec: { holderIdentity: 'ü' } },
    });
    const lease = await api.request<{ spec: object }>({ method: 'GET', on: leases, name: 'node1' });
    assert.deepEqual(lease.spec, { holderIdentity: 'ü' });
    putPod(server, 'a');
    const abort = new AbortController();
    const lines = await api.stream({ method: 'GET', on: pods, query: { watch: 'true' }, signal: abort.signal });
    const names: string[] = [];
    const reading = (async () => {
      for await (const line of lines) names.push((line as { type: string }).type);
    })();
    const body = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
    await api.request({ method: 'PATCH', on: pods, name: 'a', subresource: 'status', body });
    await api.request({ method: 'DELETE', on: pods, name: 'a', body: { gracePeriodSeconds: 0 } });
    await until(() => names.length === 3, 'three events');
    assert.deepEqual(names, ['ADDED', 'MODIFIED', 'DELETED']);
    abort.abort();
    await assert.rejects(reading);
    await until(() => server.openWatches() === 0, 'watch closed at the server');
    await assert.rejects(
      api.request({ method: 'GET', on: pods, name: 'a' }),
      refused(404, 'NotFound', { message: 'pods "a" not found' }),
    );
    const [patch] = server.requestsOf({ verb: 'patch' });
    assert.equal(patch?.headers['content-type'], 'application/strategic-merge-patch+json');
    assert.equal(patch.headers['user-agent'], 'actorlet-test');
    assert.equal(patch.clientName, transport === 'http' ? '' : 'system:node:node1');
    assert.equal(patch.httpVersion, transport === 'h2' ? '2.0' : '1.1');
    assert.deepEqual(
      seen.map(({ method, code }) => `${method} ${code}`),
      [...['POST 201', 'GET 200', 'GET 200', 'PATCH 200', 'DELETE 200', 'GET 404']],
    );
    assert.equal(seen[0]?.host, `127.0.0.1:${String(server.port)}`);
    assert.ok(server.connections <= (transport === 'h2' ? 1 : 2), `${String(server.connections)} connections`);
  });

  test(`${transport}: 429 with Retry-After is sent again, any verb; without it not`, async (t) => {
    const lines: string[] = [];
    const { server, api } = await setUp(t, transport, {
      log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    });
    server.fault({ verb: 'create' }, { do: 'fail', code: 429, retryAfterSeconds: 0 }, 2);
    await api.request({ method: 'POST', on: leases, body: { metadata: { name: 'x' } } });
    assert.deepEqual(
      server.requestsOf({ verb: 'create' }).map(({ code }) => code),
      [429, 429, 201],
    );
    server.fault({ verb: 'get' }, { do: 'fail', code: 429 }, 1);
    await assert.rejects(api.request({ method: 'GET', on: leases, name: 'x' }), refused(429, 'TooManyRequests'));
    const lift = server.fault({ verb: 'get' }, { do: 'fail', code: 503, retryAfterSeconds: 0 });
    await assert.rejects(api.request({ method: 'GET', on: leases, name: 'x' }), refused(503, 'ServiceUnavailable'));
    lift();
    assert.equal(server.requestsOf({ verb: 'get' }).length, 1 + 11);
    server.fault({ verb: 'get' }, { do: 'fail', code: 429, retryAfterSeconds: 9 }, 1);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const late = assert.rejects(
      api.request({ method: 'GET', on: leases, name: 'x', timeoutMs: 50 }),
      refused(429, 'TooManyRequests', { retryAfterSeconds: 9 }),
    );
    // Its time is over while it waits, and not before it was answered.
    await until(() => lines.some((line) => line.includes('"seconds":9')), 'the wait');
    t.mock.timers.tick(50);
    await late;
  });

  test(`${transport}: time limit, abort, refused, and back again`, async (t) => {
    const { server, api, seen } = await setUp(t, transport);
    putPod(server, 'a');
    const lift = server.fault({ resource: 'pods' }, { do: 'hang' });
    await assert.rejects(
      api.request({ method: 'GET', on: pods, name: 'a', timeoutMs: 50 }),
      refused(0, 'Unreachable', {
        message: `no answer from the API server 127.0.0.1:${String(server.port)} within 50 ms`,
      }),
    );
    assert.equal(seen.at(-1)?.code, '<error>');
    const abort = new AbortController();
    const request = api.request({ method: 'GET', on: pods, name: 'a', signal: abort.signal });
    const stream = api.stream({ method: 'GET', on: pods, query: { watch: 'true' }, signal: abort.signal });
    setTimeout(() => abort.abort(), 20);
    await Promise.all([assert.rejects(request, refused(0, 'Aborted')), assert.rejects(stream, refused(0, 'Aborted'))]);
    await assert.rejects(api.request({ method: 'GET', on: pods, signal: AbortSignal.abort() }), refused(0, 'Aborted'));
    lift();
    await server.stop();
    await assert.rejects(api.request({ method: 'GET', on: pods, name: 'a' }), refused(0, 'Unreachable'));
    await server.start();
    assert.equal(
      (await api.request<{ kind?: string; metadata: { name: string } }>({ method: 'GET', on: pods, name: 'a' }))
        .metadata.name,
      'a',
    );
  });

  test(`${transport}: a GET on a kept connection that died is sent once more, a PATCH is not`, async (t) => {
    const { server, api } = await setUp(t, transport);
    putPod(server, 'a');
    const get = () => api.request({ method: 'GET', on: pods, name: 'a' });
    await get();
    server.fault({ verb: 'get' }, { do: 'drop' }, 1);
    await get();
    assert.equal(server.requestsOf({ verb: 'get' }).length, 3);
    server.fault({ verb: 'get' }, { do: 'drop' }, 2);
    await assert.rejects(get(), refused(0, 'Unreachable'));
    await get();
    server.fault({ verb: 'patch' }, { do: 'drop' }, 1);
    const patch = { method: 'PATCH' as const, on: pods, name: 'a', body: { metadata: { labels: { a: 'b' } } } };
    await assert.rejects(api.request(patch), refused(0, 'Unreachable'));
    assert.equal(server.requestsOf({ verb: 'patch' }).length, 1);
  });

  test(`${transport}: a watch that is cut ends with an error, one that is over just ends`, async (t) => {
    const { server, api } = await setUp(t, transport);
    const open = () => api.stream({ method: 'GET', on: pods, query: { watch: 'true' } });
    const drain = async (lines: AsyncIterable<unknown>): Promise<void> => {
      for await (const line of lines) assert.ok(line);
    };
    const cut = drain(await open());
    server.cutWatches();
    await assert.rejects(cut);
    const over = drain(await open());
    server.cutWatches('pods', 'end');
    await over;
    // A reader that has enough gives the stream back.
    putPod(server, 'a');
    const iterator = (await open())[Symbol.asyncIterator]();
    await iterator.next();
    await iterator.return?.();
    await until(() => server.openWatches() === 0, 'watch closed at the server');
  });
}

test('h2: GOAWAY lets the watch go on and sends new requests over a new connection', async (t) => {
  const { server, api } = await setUp(t, 'h2');
  const types: string[] = [];
  const lines = await api.stream({ method: 'GET', on: pods, query: { watch: 'true' } });
  const reading = (async () => {
    for await (const line of lines) types.push((line as { type: string }).type);
  })();
  server.goaway();
  // until the client has heard of it; none of the requests fails
  for (let i = 0; server.connections < 2 && i < 1_000; i++) await api.request({ method: 'GET', on: pods });
  await api.request({ method: 'POST', on: pods, body: { metadata: { name: 'a' } } });
  await until(() => types.length === 1, 'the old watch hears of the new request');
  assert.equal(server.connections, 2);
  server.cutWatches('pods', 'end');
  await reading;
  await until(() => server.connections === 1, 'the old connection is closed');
});

test('h2: many requests in the middle of GOAWAYs all succeed', async (t) => {
  const { server, api } = await setUp(t, 'h2');
  putPod(server, 'a');
  let done = 0;
  const lane = async () => {
    for (let i = 0; i < 50; i++) {
      await api.request({ method: 'PATCH', on: pods, name: 'a', body: { metadata: { labels: { i: String(i) } } } });
      if (++done % 40 === 0) server.goaway();
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  assert.equal(done, 200);
});

test('h2: more watches than the server allows on a connection take a second one', async (t) => {
  const { server, api } = await setUp(t, 'h2');
  server.limitStreams(5);
  await api.request({ method: 'GET', on: pods });
  const abort = new AbortController();
  const open = () => api.stream({ method: 'GET', on: pods, query: { watch: 'true' }, signal: abort.signal });
  for (let i = 0; i < 12; i++) await open();
  assert.equal(server.openWatches(), 12);
  await api.request({ method: 'GET', on: pods });
  assert.equal(server.connections, 3);
  abort.abort();
});

test('h2: a connection that is silent and answers no ping is given up', async (t) => {
  const { server } = await setUp(t, 'h2');
  // A relay in between that can go deaf, as a lost network does.
  let deaf = false;
  const sockets = new Set<Socket>();
  const relay = createServer((client) => {
    if (deaf) return void sockets.add(client);
    const upstream = new (client.constructor as typeof Socket)();
    upstream.connect(server.port, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => deaf || to.write(chunk));
      from.on('error', () => undefined);
      from.on('close', () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const kubeconfig = loadKubeconfig(server.kubeconfigPath, { log });
  kubeconfig.server.port = String((relay.address() as AddressInfo).port);
  const api = createApiClient({ kubeconfig, userAgent: 'x', log, health: { idleMs: 80, ackMs: 1_500 } });
  t.after(() => {
    api.close();
    for (const socket of sockets) socket.destroy();
    relay.close();
  });
  const lines = await api.stream({ method: 'GET', on: pods, query: { watch: 'true' } });
  const reading = (async () => {
    for await (const line of lines) assert.ok(line);
  })();
  await sleep(300);
  assert.equal(server.openWatches(), 1, 'pings that are answered keep the connection');
  deaf = true;
  await assert.rejects(reading);
  deaf = false;
  await api.request({ method: 'GET', on: pods });
});

test('h2: a rotated client certificate is used for new connections, open watches go on', async (t) => {
  const server = await startFakeApiServer({ transport: 'h2' });
  let now = 0;
  const kubeconfig = loadKubeconfig(server.kubeconfigPath, { log, now: () => now });
  const api = createApiClient({ kubeconfig, userAgent: 'x', log });
  t.after(async () => {
    api.close();
    await server.close();
  });
  await api.stream({ method: 'GET', on: pods, query: { watch: 'true' } });
  const file = (name: string) => join(server.folder, name);
  makeCertificate(server.folder, 'next', '/CN=rotated', { cert: file('ca.crt'), key: file('ca.key') });
  copyFileSync(file('next.crt'), file('client.crt'));
  copyFileSync(file('next.key'), file('client.key'));
  now += 61_000;
  await api.request({ method: 'GET', on: pods });
  assert.deepEqual(
    server.requests.map(({ clientName }) => clientName),
    ['system:node:node1', 'rotated'],
  );
  assert.equal(server.openWatches(), 1);
});

test('a server whose certificate is not signed by the authority is refused', async (t) => {
  const server = await startFakeApiServer({ transport: 'h2' });
  const kubeconfig = { ...loadKubeconfig(server.kubeconfigPath, { log }), ca: () => undefined };
  const api = createApiClient({ kubeconfig, userAgent: 'x', log });
  const named = createApiClient({
    kubeconfig: { ...loadKubeconfig(server.kubeconfigPath, { log }), serverName: 'other.example' },
    userAgent: 'x',
    log,
  });
  t.after(async () => {
    api.close();
    named.close();
    await server.close();
  });
  await assert.rejects(api.request({ method: 'GET', on: pods }), refused(0, 'Unreachable'));
  await assert.rejects(named.request({ method: 'GET', on: pods }), /altnames/);
});

test('a 401 makes credentials be asked anew, once', async (t) => {
  const server = await startFakeApiServer();
  let token = 0;
  const kubeconfig = {
    ...loadKubeconfig(server.kubeconfigPath, { log }),
    credentials: { current: () => ({ authorization: `Bearer ${String(token)}` }), rejected: () => ++token > 0 },
  };
  const api = createApiClient({ kubeconfig, userAgent: 'x', log });
  t.after(async () => {
    api.close();
    await server.close();
  });
  server.fault({ verb: 'list' }, { do: 'fail', code: 401 }, 1);
  await api.request({ method: 'GET', on: pods });
  assert.deepEqual(
    server.requests.map(({ headers }) => headers.authorization),
    ['Bearer 0', 'Bearer 1'],
  );
  server.fault({ verb: 'list' }, { do: 'fail', code: 401 }, 2);
  await assert.rejects(api.request({ method: 'GET', on: pods }), refused(401, 'Unauthorized'));
  assert.equal(server.requests.length, 4);
});

test('credentials that do not come hold no request longer than it may take', async (t) => {
  const server = await startFakeApiServer();
  const kubeconfig = {
    ...loadKubeconfig(server.kubeconfigPath, { log }),
    credentials: { current: () => new Promise<never>(() => undefined), rejected: () => false },
  };
  const api = createApiClient({ kubeconfig, userAgent: 'x', log });
  t.after(async () => {
    api.close();
    await server.close();
  });
  await assert.rejects(api.request({ method: 'GET', on: pods, timeoutMs: 50 }), refused(0, 'Unreachable'));
  const abort = new AbortController();
  const asked = api.request({ method: 'GET', on: pods, signal: abort.signal });
  abort.abort();
  await assert.rejects(asked, refused(0, 'Aborted'));
  assert.equal(server.requests.length, 0);
});

test('a limited client waits its turn, in order; the others do not', async (t) => {
  // Over one connection: over several, what is sent first may come last.
  const { server, api } = await setUp(t, 'h2');
  const limited = api.limited(20, 2);
  const started = performance.now();
  const names = Array.from({ length: 6 }, (_, i) => `p${String(i)}`);
  await Promise.all(names.map((name) => limited.request({ method: 'POST', on: pods, body: { metadata: { name } } })));
  assert.ok(performance.now() - started >= 190, 'four of six wait 50 ms each');
  const asked = server.requests.map(({ body }) => (body as { metadata: { name: string } }).metadata.name);
  assert.deepEqual(asked.slice(2), names.slice(2));
  assert.deepEqual(asked.slice(0, 2).toSorted(), ['p0', 'p1']);
});

test('an answer that is no JSON shows nothing of itself', async (t) => {
  const { server, api } = await setUp(t, 'http');
  const plain = createServer((socket) => {
    socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\nsecret-value'));
  });
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  t.after(() => plain.close());
  await api.request({ method: 'GET', on: pods });
  const path = join(server.folder, 'other');
  const config = JSON.stringify(server.kubeconfig()).replace(
    String(server.port),
    String((plain.address() as AddressInfo).port),
  );
  writeFileSync(path, config);
  const other = createApiClient({ kubeconfig: path, userAgent: 'x', log });
  t.after(() => other.close());
  await assert.rejects(other.request({ method: 'GET', on: pods }), (error: ApiStatusError) => {
    assert.match(error.message, /something that is not JSON/);
    assert.ok(!JSON.stringify([error.stack, String(error.cause)]).includes('secret-value'));
    return true;
  });
});
