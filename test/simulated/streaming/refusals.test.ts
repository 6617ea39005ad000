import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CriError } from '../../../cri/client/cri-error.ts';
import { container, fakeRuntime, sandbox, webPod } from './support/fake-runtime.ts';
import { startStreamingApp } from './support/streaming-app.ts';
import type { StreamingApp } from './support/streaming-app.ts';
import { rawClient } from './support/raw-client.ts';

const node = { podNamed: (ns: string, name: string) => (ns === 'ns' && name === 'web' ? webPod : undefined) };
const { cri, calls } = fakeRuntime(() => 'http://127.0.0.1:1/exec/token');
let app: StreamingApp;
before(async () => {
  app = await startStreamingApp({ node, cri });
});
after(() => app.close());

async function ask(method: string, path: string, at = app): Promise<[number, string, string | null]> {
  const response = await fetch(`http://127.0.0.1:${String(at.port)}${path}`, { method });
  return [response.status, await response.text(), response.headers.get('content-type')];
}

const text = 'text/plain; charset=utf-8';

test('plain requests get what kubelet answers', async () => {
  const cases: [method: string, path: string, status: number, body: string][] = [
    ['GET', '/exec/ns/web/app', 400, 'you must specify at least 1 of stdin, stdout, stderr'],
    ['POST', '/attach/ns/web/app', 400, 'you must specify at least 1 of stdin, stdout, stderr'],
    ['GET', '/exec/ns/web/app?error=1&tty=1', 400, 'you must specify at least 1 of stdin, stdout, stderr'],
    ['GET', '/exec/ns/absent/app?output=1', 404, 'pod does not exist'],
    ['GET', '/attach/other/web/app?output=1', 404, 'pod does not exist'],
    ['POST', '/portForward/ns/absent', 404, 'pod does not exist'],
    ['POST', '/portForward/ns/web/wrong-uid', 404, 'pod not found'],
    ['POST', '/run/ns/absent/app?cmd=ls', 404, 'pod does not exist'],
    ['GET', '/exec/ns/web/absent?output=1', 500, 'container not found ("absent")'],
    ['GET', '/exec/ns/web/stopped?output=1', 500, 'container not found ("stopped")'],
    ['GET', '/attach/ns/web/stopped?output=1', 500, 'container stopped not found in pod web_ns'],
    ['GET', '/attach/ns/web/wrong-uid/app?output=1', 500, 'pod web_ns not found'],
    ['POST', '/run/ns/web/absent?cmd=ls', 500, 'container not found ("absent")'],
    ['GET', '/exec/ns/web/app?output=1&command=ls', 500, 'Upgrade request required\n'],
    ['POST', '/attach/ns/web/uid-1/app?output=1', 500, 'Upgrade request required\n'],
    ['GET', '/portForward/ns/web', 500, 'Upgrade request required\n'],
  ];
  for (const [method, path, status, body] of cases) {
    assert.deepEqual(await ask(method, path), [status, body, text], `${method} ${path}`);
  }
  assert.equal((await ask('GET', '/run/ns/web/app?cmd=ls'))[0], 404);
  assert.equal((await ask('HEAD', '/exec/ns/web/app?output=1'))[0], 404);
  assert.equal(app.routes.open, 0);
});

test('errors of the runtime become statuses', async () => {
  const fail = (error: Error) => ({ exec: () => Promise.reject(error) });
  const cases: [Error, number][] = [
    [new CriError('Exec', 'NotFound', 'no such container'), 404],
    [new CriError('Exec', 'ResourceExhausted', 'too many'), 429],
    [new CriError('Exec', 'Unavailable', 'down'), 500],
  ];
  for (const [error, status] of cases) {
    const other = await startStreamingApp({ node, cri: fakeRuntime(() => '', fail(error)).cri });
    try {
      const path = `http://127.0.0.1:${String(other.port)}/exec/ns/web/app?output=1`;
      const response = await fetch(path);
      assert.deepEqual([response.status, await response.text()], [status, error.message]);
      assert.equal(response.headers.get('retry-after'), status === 429 ? '60' : null);
    } finally {
      await other.close();
    }
  }
});

test('the requests that the runtime gets', async () => {
  calls.length = 0;
  await ask('POST', '/exec/ns/web/any-uid/app?command=sh&command=-c&command=echo+%22a%22&input=1&output=1&error=1');
  await ask('POST', '/attach/ns/web/shell?output=1&tty=0');
  await ask('POST', '/portForward/ns/web/uid-1?port=80');
  await ask('POST', '/run/ns/web/app?cmd=ls+-l++/');
  assert.deepEqual(calls, [
    {
      method: 'exec',
      request: {
        containerId: 'id-app',
        cmd: ['sh', '-c', 'echo "a"'],
        stdin: true,
        stdout: true,
        stderr: true,
        tty: false,
      },
    },
    // the container has a terminal, whatever the client asked
    { method: 'attach', request: { containerId: 'id-shell', stdin: false, stdout: true, stderr: false, tty: true } },
    // without WebSocket the ports come with the streams
    { method: 'portForward', request: { podSandboxId: 'sandbox-1', port: [] } },
    { method: 'execSync', request: { containerId: 'id-app', cmd: ['ls', '-l', '', '/'], timeout: '0' } },
  ]);
});

test('of two pods with one name it is the one with the newest ready sandbox', async () => {
  const both = fakeRuntime(() => 'http://127.0.0.1:1/', {
    listPodSandbox: () => Promise.resolve({ items: [sandbox('old', 'uid-0', 1), sandbox('new', 'uid-1', 9)] }),
    listContainers: () =>
      Promise.resolve({
        containers: [
          container('old-app', 'app', 'uid-0', 2),
          container('first-app', 'app', 'uid-1', 10),
          container('second-app', 'app', 'uid-1', 11),
          container('gone-app', 'app', 'uid-9', 99),
        ],
      }),
  });
  const other = await startStreamingApp({ node, cri: both.cri });
  try {
    await ask('POST', '/run/ns/web/app?cmd=ls', other);
    const request = both.calls[0]?.request ?? {};
    assert.equal('containerId' in request && request.containerId, 'second-app');
  } finally {
    await other.close();
  }
});

test('run: output, nothing, failure, trouble', async () => {
  assert.deepEqual(await ask('POST', '/run/ns/web/app?cmd=ls'), [200, 'out\nerr\n', 'application/json']);
  const results: [() => Promise<{ stdout: Buffer; stderr: Buffer; exitCode: number }>, number, string][] = [
    [() => Promise.resolve({ stdout: Buffer.alloc(0), stderr: Buffer.alloc(0), exitCode: 0 }), 200, ''],
    [
      () => Promise.resolve({ stdout: Buffer.from('lost'), stderr: Buffer.from('no such file'), exitCode: 3 }),
      500,
      "command 'cat /x' exited with 3: no such file",
    ],
    [() => Promise.reject(new CriError('ExecSync', 'NotFound', 'gone')), 500, 'rpc error: code = NotFound desc = gone'],
  ];
  for (const [execSync, status, body] of results) {
    const other = await startStreamingApp({ node, cri: fakeRuntime(() => '', { execSync }).cri });
    try {
      const type = body === '' ? null : text;
      assert.deepEqual(await ask('POST', '/run/ns/web/app?cmd=cat+/x', other), [status, body, type]);
    } finally {
      await other.close();
    }
  }
});

test('run takes a body of any type and ends with its client', async () => {
  const body = { method: 'POST', body: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
  const posted = await fetch(`http://127.0.0.1:${String(app.port)}/run/ns/web/app?cmd=ls`, body);
  assert.deepEqual([posted.status, await posted.text()], [200, 'out\nerr\n']);

  const canceled = Promise.withResolvers<undefined>();
  const started = Promise.withResolvers<undefined>();
  const execSync = (_request: object, options?: { signal?: AbortSignal }) =>
    new Promise<never>((_resolve, reject) => {
      options?.signal?.addEventListener('abort', () => {
        canceled.resolve(undefined);
        reject(new CriError('ExecSync', 'Canceled', 'context canceled'));
      });
      started.resolve(undefined);
    });
  const other = await startStreamingApp({ node, cri: fakeRuntime(() => '', { execSync }).cri });
  try {
    const client = await rawClient(other.port);
    client.socket.write('POST /run/ns/web/app?cmd=sleep HTTP/1.1\r\nHost: n\r\nContent-Length: 0\r\n\r\n');
    await started.promise;
    assert.equal(other.routes.open, 1);
    client.socket.resetAndDestroy();
    await canceled.promise;
  } finally {
    await other.close();
  }
  assert.equal(other.routes.open, 0);
});

test('upgrade requests that come to nothing get an answer and a closed connection', async () => {
  const websocket = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
  const cases: [path: string, headers: string[], status: number, body: string][] = [
    ['/exec/ns/web/app', ['Upgrade: SPDY/3.1'], 400, 'you must specify at least 1 of stdin, stdout, stderr'],
    ['/exec/ns/absent/app?output=1', ['Upgrade: SPDY/3.1'], 404, 'pod does not exist'],
    ['/portForward/ns/web', websocket, 400, 'query parameter "port" is required'],
    ['/portForward/ns/web?port=x', websocket, 400, 'invalid syntax'],
    [
      '/exec/ns/web/app?output=1',
      ['Upgrade: SPDY/3.1'],
      500,
      'error dialing backend: dial tcp 127.0.0.1:1: connect: connection refused\n',
    ],
    ['/exec/ns/web/app?output=1', ['Upgrade: SPDY/3.1', 'Content-Length: 5'], 400, ''],
  ];
  for (const [path, headers, status, body] of cases) {
    const client = await rawClient(app.port);
    const length = headers.some((header) => header.startsWith('Content-Length')) ? '' : 'Content-Length: 0\r\n';
    client.socket.write(
      `POST ${path} HTTP/1.1\r\nHost: n\r\nConnection: Upgrade\r\n${headers.join('\r\n')}\r\n${length}\r\n`,
    );
    client.socket.end();
    await client.ended;
    assert.match(client.text(), new RegExp(`^HTTP/1\\.1 ${String(status)} `), path);
    assert.ok(client.text().endsWith(body) || client.text().includes(body), client.text());
    client.socket.destroy();
    await client.closed;
  }
  assert.equal(app.routes.open, 0);
});
