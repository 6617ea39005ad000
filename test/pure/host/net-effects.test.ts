import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, Server as HttpServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import type { HostSettings } from '../../../actors/host/files/host-settings.ts';
import { netEffects } from '../../../actors/pods/prober/net-effects.ts';
import { dialText } from '../../../actors/pods/prober/net-failure.ts';

const settings: HostSettings = {
  rootDir: '/nowhere',
  podLogsDir: '/nowhere',
  containerLogsDir: '/nowhere',
  cgroupVersion: 1,
  cgroupDriver: 'cgroupfs',
  log: pino({ level: 'silent' }),
};
const local: Omit<Parameters<(typeof netEffects)['net.HttpGet']>[0], 'port'> = {
  scheme: 'http',
  host: '127.0.0.1',
  path: '/',
  headers: [],
  timeoutMs: 5000,
};

async function serving(server: Server | HttpServer, use: (port: number) => Promise<void>): Promise<void> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await use((server.address() as AddressInfo).port);
  } finally {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
}

const withHttp = (listener: RequestListener, use: (port: number) => Promise<void>) =>
  serving(createServer(listener), use);
const withTcp = (onSocket: (socket: Socket) => void, use: (port: number) => Promise<void>) =>
  serving(
    createTcpServer((socket) => {
      socket.on('error', () => undefined);
      onSocket(socket);
    }),
    use,
  );

async function freePort(): Promise<number> {
  let port = 0;
  await withTcp(
    () => undefined,
    (given) => {
      port = given;
      return Promise.resolve();
    },
  );
  return port;
}

test('HTTP: the request as kubelet sends it, status and body back', async () => {
  const seen: IncomingMessage[] = [];
  const listener: RequestListener = (request, response) => {
    seen.push(request);
    response.writeHead(503).end('not yet');
  };
  await withHttp(listener, async (port) => {
    const get = (params: object) => netEffects['net.HttpGet']({ ...local, port, ...params }, settings);
    assert.deepEqual(await get({ path: 'healthz?full=1' }), { status: 503, body: 'not yet' });
    const first = seen[0];
    assert.equal(first?.url, '/healthz?full=1');
    assert.equal(first?.headers['user-agent'], 'kube-probe/1.35');
    assert.equal(first?.headers.accept, '*/*');
    assert.equal(first?.headers.connection, 'close');
    assert.equal(first?.headers.host, `127.0.0.1:${port}`);
    assert.equal(first?.headers['accept-encoding'], undefined);
    const header = (name: string, value: string) => ({ name, value });
    await get({
      headers: [
        header('host', 'shop.example'),
        header('User-Agent', 'mine'),
        header('X-A', '1'),
        header('x-a', '2'),
        header('Accept', ''),
      ],
    });
    const second = seen[1]?.headers;
    assert.equal(second?.host, 'shop.example');
    assert.equal(second?.['user-agent'], 'mine');
    assert.equal(second?.['x-a'], '1, 2');
    assert.equal(second?.accept, undefined);
  });
});

test('HTTP: a path without a root gets one, and of a whole URL the path counts, as with kubelet', async () => {
  const seen: (string | undefined)[] = [];
  await withHttp(
    (request, response) => {
      seen.push(request.url);
      response.end();
    },
    async (port) => {
      for (const path of ['ready?x=1', '', '?x=1', 'http://elsewhere:99/a%20b?c=d#e', '/http://elsewhere/'])
        await netEffects['net.HttpGet']({ ...local, port, path }, settings);
    },
  );
  assert.deepEqual(seen, ['/ready?x=1', '/', '/?x=1', '/a%20b?c=d', '/http://elsewhere/']);
});

test('HTTP: redirects stay on the host; another host is the answer; ten are the end', async () => {
  const listener: RequestListener = (request, response) => {
    const to: Record<string, string> = { '/a': '/b', '/away': 'http://other.example/x', '/loop': '/loop' };
    const location = to[request.url ?? ''];
    if (location === undefined) response.end(`at ${request.url} for ${request.headers.host}`);
    else response.writeHead(302, { location }).end('moved');
  };
  await withHttp(listener, async (port) => {
    const get = (path: string, headers: { name: string; value: string }[] = []) =>
      netEffects['net.HttpGet']({ ...local, port, path, headers }, settings);
    assert.deepEqual(await get('/a'), { status: 200, body: `at /b for 127.0.0.1:${port}` });
    assert.equal((await get('/a', [{ name: 'Host', value: 'own' }])).body, 'at /b for own');
    assert.deepEqual(await get('/away'), { status: 302, body: 'moved' });
    await assert.rejects(get('/loop'), { message: 'Get "/loop": stopped after 10 redirects' });
  });
});

test('HTTP: an endless body is cut at 10 KiB and its connection ended', async () => {
  let closed: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => (closed = resolve));
  const listener: RequestListener = (_request, response) => {
    const timer = setInterval(() => response.write('x'.repeat(4096)), 1);
    response.on('close', () => {
      clearInterval(timer);
      closed();
    });
  };
  await withHttp(listener, async (port) => {
    const { body } = await netEffects['net.HttpGet']({ ...local, port }, settings);
    assert.equal(body.length, 10240);
    await gone;
  });
});

test('HTTP: failures in the words of the kubelet', async () => {
  const get = (port: number, more: object = {}) =>
    netEffects['net.HttpGet']({ ...local, port, path: '/x', ...more }, settings);
  const closed = await freePort();
  await assert.rejects(get(closed), {
    code: 'ECONNREFUSED',
    message: `Get "http://127.0.0.1:${closed}/x": dial tcp 127.0.0.1:${closed}: connect: connection refused`,
  });
  await withTcp(
    () => undefined,
    async (port) => {
      const message =
        /^Get "https?:\/\/127\.0\.0\.1:\d+\/x": context deadline exceeded \(Client\.Timeout exceeded while awaiting headers\)$/;
      await assert.rejects(get(port, { timeoutMs: 50 }), { code: 'DeadlineExceeded', message });
      await assert.rejects(get(port, { timeoutMs: 50, scheme: 'https' }), { code: 'DeadlineExceeded', message });
    },
  );
  await withTcp(
    (socket) => socket.once('data', () => socket.end()),
    (port) => assert.rejects(get(port), { message: `Get "http://127.0.0.1:${port}/x": EOF` }),
  );
  await withTcp(
    (socket) => socket.once('data', () => socket.resetAndDestroy()),
    (port) =>
      assert.rejects(get(port), {
        message: /: read tcp 127\.0\.0\.1:\d+->127\.0\.0\.1:\d+: read: connection reset by peer$/,
      }),
  );
  await withTcp(
    (socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\nhi')),
    (port) =>
      assert.rejects(get(port, { scheme: 'https' }), {
        code: 'HTTPResponseToHTTPSClient',
        message: `Get "https://127.0.0.1:${port}/x": http: server gave HTTP response to HTTPS client`,
      }),
  );
  await withHttp(
    (_request, response) => response.write('half'),
    async (port) => {
      const brokenBody = 'context deadline exceeded (Client.Timeout or context cancellation while reading body)';
      assert.equal((await get(port, { timeoutMs: 300 })).brokenBody, brokenBody);
    },
  );
});

test('HTTPS: a certificate nobody signed is fine', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-tls-'));
  try {
    const [key, cert] = [join(dir, 'key'), join(dir, 'cert')];
    const openssl = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=x'.split(' ');
    execFileSync('openssl', [...openssl, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_request, response) =>
      response.end('safe'),
    );
    await serving(server, async (port) => {
      const result = await netEffects['net.HttpGet']({ ...local, port, scheme: 'https' }, settings);
      assert.deepEqual(result, { status: 200, body: 'safe' });
    });
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('HTTPS: a server that speaks HTTP/2 only is asked so, as by kubelet', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-tls-'));
  try {
    const [key, cert] = [join(dir, 'key'), join(dir, 'cert')];
    const openssl = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=x'.split(' ');
    execFileSync('openssl', [...openssl, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    const server = createSecureServer({ key: readFileSync(key), cert: readFileSync(cert), allowHTTP1: false });
    const seen: IncomingHttpHeaders[] = [];
    server.on('sessionError', () => undefined);
    server.on('stream', (stream, headers) => {
      seen.push(headers);
      stream.on('error', () => undefined);
      const path = headers[':path'] ?? '';
      if (path === '/silent') return;
      if (path === '/reset') return stream.close(2);
      if (path === '/moved') return stream.respond({ ':status': 302, location: '/ready?x' }, { endStream: true });
      if (path === '/away')
        return stream.respond({ ':status': 302, location: 'https://a.example/' }, { endStream: true });
      stream.respond({ ':status': path === '/bad' ? 503 : 200 });
      if (path === '/half') stream.write('half');
      else if (path === '/broken') stream.write('broken', () => stream.destroy(new Error('broken')));
      else stream.end(path === '/long' ? 'x'.repeat(100_000) : `at ${path}`);
    });
    await serving(server as unknown as Server, async (port) => {
      const get = (path: string, timeoutMs = 60_000) =>
        netEffects['net.HttpGet']({ ...local, port, path, scheme: 'https', timeoutMs }, settings);
      assert.deepEqual(await get('/ready'), { status: 200, body: 'at /ready' });
      const [{ ':authority': authority, 'user-agent': agent, accept, connection } = {}] = seen;
      assert.deepEqual(
        [authority, agent, accept, connection],
        [`127.0.0.1:${port}`, 'kube-probe/1.35', '*/*', undefined],
      );
      assert.deepEqual(await get('/bad'), { status: 503, body: 'at /bad' });
      assert.deepEqual(await get('/moved'), { status: 200, body: 'at /ready?x' });
      assert.deepEqual(await get('/away'), { status: 302, body: '' });
      assert.equal((await get('/long')).body.length, 10240);
      const reset = 'stream error: stream ID 1; INTERNAL_ERROR; received from peer';
      assert.equal((await get('/broken')).brokenBody, reset);
      assert.match((await get('/half', 1000)).brokenBody ?? '', /^context deadline exceeded .*while reading body\)$/);
      await assert.rejects(get('/silent', 1000), { code: 'DeadlineExceeded' });
      await assert.rejects(get('/reset'), { message: `Get "https://127.0.0.1:${port}/reset": ${reset}` });
    });
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('TCP: open, closed, unknown host', async () => {
  const connect = (port: number, host = '127.0.0.1') =>
    netEffects['net.TcpConnect']({ host, port, timeoutMs: 5000 }, settings);
  await withTcp(
    () => undefined,
    async (port) => assert.deepEqual(await connect(port), {}),
  );
  const closed = await freePort();
  await assert.rejects(connect(closed), {
    code: 'ECONNREFUSED',
    message: `dial tcp 127.0.0.1:${closed}: connect: connection refused`,
  });
  await assert.rejects(connect(closed, '::1'), { message: new RegExp(`^dial tcp \\[::1\\]:${closed}: connect: `) });
  assert.equal(dialText('x.invalid:80', { code: 'ENOTFOUND' }), 'dial tcp: lookup x.invalid: no such host');
});
