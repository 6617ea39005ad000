import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { waitFor } from '../../tools/wait-for.ts';
import { makeTestCertificate } from './support/certificate.ts';
import { fakeRuntime, webPod } from './support/fake-runtime.ts';
import { startFakeStreamingServer, SWITCHING } from './support/fake-streaming-server.ts';
import type { FakeStreamingServer, OnUpgrade } from './support/fake-streaming-server.ts';
import { rawClient, upgradeRequest } from './support/raw-client.ts';
import type { RawClient } from './support/raw-client.ts';
import { startStreamingApp } from './support/streaming-app.ts';
import type { StreamingApp } from './support/streaming-app.ts';

// As --expose-gc does, which the runner's child is not started with.
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const node = { podNamed: () => webPod };
const path = '/exec/ns/web/app?output=1&command=x';

interface Parts {
  app: StreamingApp;
  runtime: FakeStreamingServer;
  connect: () => Promise<RawClient>;
}

/** Client, our server and a fake runtime; all of it is to be gone in the end, without anybody's help. */
async function withParts(
  onUpgrade: OnUpgrade,
  body: (parts: Parts) => Promise<void>,
  options: { idleMs?: number; tls?: { key: string; cert: string } } = {},
): Promise<void> {
  const runtime = await startFakeStreamingServer(onUpgrade, options.tls);
  const ca = options.tls === undefined ? undefined : [options.tls.cert];
  const { cri } = fakeRuntime(() => `${runtime.url}/exec/token?q=1`);
  const app = await startStreamingApp({ node, cri, idleMs: options.idleMs ?? 0, ca }, options.tls);
  const clients: RawClient[] = [];
  try {
    const connect = async () => {
      const client = await rawClient(app.port, options.tls?.cert);
      clients.push(client);
      return client;
    };
    await body({ app, runtime, connect });
    await nothingOpen(app, runtime);
  } finally {
    for (const { socket } of clients) socket.destroy();
    await app.close();
    await runtime.close();
  }
}

async function nothingOpen(app: StreamingApp, runtime: FakeStreamingServer): Promise<void> {
  await waitFor(
    'all connections to close',
    () => (app.routes.open + app.sockets.size + runtime.sockets.size === 0 ? true : undefined),
    () => `streams ${app.routes.open}, clients ${app.sockets.size}, runtime ${runtime.sockets.size}`,
  );
}

const echo: OnUpgrade = (_request, socket, head) => {
  socket.write(SWITCHING);
  if (head.length > 0) socket.write(head);
  socket.pipe(socket);
};

for (const kind of ['plain', 'TLS'] as const) {
  const tls = kind === 'TLS' ? await makeTestCertificate() : undefined;
  describe(`over ${kind} connections`, () => {
    test('request and answer travel as they are, without credentials', async () => {
      let seen: IncomingMessage | undefined;
      const answer: OnUpgrade = (request, socket) => {
        seen = request;
        socket.end(`${SWITCHING}first bytes`);
      };
      await withParts(
        answer,
        async ({ connect }) => {
          const client = await connect();
          const headers = [
            'Upgrade: SPDY/3.1',
            'X-Stream-Protocol-Version: v4.channel.k8s.io',
            'X-Stream-Protocol-Version: v3.channel.k8s.io',
            'Sec-WebSocket-Protocol: v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.c2VjcmV0',
            'User-Agent: kubectl',
            'Authorization: Bearer secret',
            'Cookie: secret',
            'X-Remote-User: secret',
            'Impersonate-User: secret',
            'X-Forwarded-For: 10.0.0.1',
          ];
          client.socket.write(upgradeRequest(path, headers));
          await client.ended;
          assert.equal(client.text(), `${SWITCHING}first bytes`);
          client.socket.end();
          await client.closed;
        },
        { tls },
      );
      assert.ok(seen);
      assert.deepEqual([seen.method, seen.url], ['POST', '/exec/token?q=1']);
      assert.doesNotMatch(seen.rawHeaders.join('\n'), /secret|c2VjcmV0/);
      const versions = seen.rawHeaders.flatMap((name, i) =>
        name === 'X-Stream-Protocol-Version' ? [seen?.rawHeaders[i + 1]] : [],
      );
      assert.deepEqual(versions, ['v4.channel.k8s.io', 'v3.channel.k8s.io']);
      const { upgrade, connection, host } = seen.headers;
      assert.deepEqual([upgrade, connection, host], ['SPDY/3.1', 'Upgrade', 'node']);
      assert.equal(seen.headers['sec-websocket-protocol'], 'v4.channel.k8s.io');
      assert.equal(seen.headers['x-forwarded-for'], '10.0.0.1, 127.0.0.1');
    });

    test('bytes with the head of the request are not lost, and ends travel one by one', async () => {
      // says what came only when the client has ended: the client must still be heard after its end
      const tell: OnUpgrade = (_request, socket, head) => {
        const parts = [head];
        socket.write(SWITCHING);
        socket.on('data', (chunk: Buffer) => parts.push(chunk));
        socket.on('end', () => {
          setTimeout(() => socket.end(`heard: ${Buffer.concat(parts).toString()}`), 300);
        });
        socket.allowHalfOpen = true;
      };
      await withParts(
        tell,
        async ({ connect }) => {
          const client = await connect();
          client.socket.write(`${upgradeRequest(path)}early `);
          await client.until('Fake');
          client.socket.end('late');
          assert.equal(await client.ended, true);
          assert.ok(client.text().endsWith('heard: early late'), client.text());
        },
        { tls },
      );
    });

    test('many megabytes both ways at once have the same checksum', async () => {
      await withParts(
        echo,
        async ({ connect }) => {
          const client = await connect();
          client.socket.write(upgradeRequest(path));
          await client.until('\r\n\r\n');
          client.socket.removeAllListeners('data');
          const hash = createHash('sha256');
          let received = 0;
          client.socket.on('data', (chunk: Buffer) => {
            hash.update(chunk);
            received += chunk.length;
          });
          const sent = createHash('sha256');
          const block = randomBytes(1 << 20);
          for (let i = 0; i < 24; i++) {
            block.writeUInt32LE(i);
            sent.update(block);
            const copy = Buffer.from(block);
            if (!client.socket.write(copy)) await new Promise((resolve) => client.socket.once('drain', resolve));
          }
          client.socket.end();
          assert.equal(await client.ended, true);
          assert.equal(received, 24 << 20);
          assert.equal(hash.digest('hex'), sent.digest('hex'));
        },
        { tls },
      );
    });

    test('a client that vanishes leaves nothing', async () => {
      const each = async (vanish: 'resetAndDestroy' | 'destroy' | 'end'): Promise<void> => {
        const silent: OnUpgrade = (_request, socket) => {
          // a runtime that does not even notice: it keeps its half open
          socket.allowHalfOpen = true;
          socket.resume();
          socket.write(SWITCHING);
        };
        await withParts(
          silent,
          async ({ connect, app, runtime }) => {
            const client = await connect();
            client.socket.write(upgradeRequest(path));
            await client.until('\r\n\r\n');
            assert.deepEqual([app.routes.open, runtime.sockets.size], [1, 1]);
            if (vanish === 'resetAndDestroy' && kind === 'TLS') client.socket.destroy();
            else client.socket[vanish]();
            await waitFor('the stream to end', () => (app.routes.open === 0 ? true : undefined));
            // our end of the connection is closed, not only half of it: what comes there is refused
            for (const socket of runtime.sockets) {
              socket.write('x');
              setTimeout(() => socket.write('x'), 100);
            }
          },
          { tls },
        );
      };
      await Promise.all((['resetAndDestroy', 'destroy', 'end'] as const).map(each));
    });

    test('a runtime that breaks off ends the client, after its last bytes', async () => {
      const last = randomBytes(3 << 20).toString('hex');
      const breakOff: OnUpgrade = (_request, socket) => {
        socket.write(SWITCHING);
        socket.end(last, () => socket.destroy());
      };
      await withParts(
        breakOff,
        async ({ connect }) => {
          const client = await connect();
          client.socket.write(upgradeRequest(path));
          await client.until('\r\n\r\n');
          await client.ended;
          assert.equal(client.text().length, SWITCHING.length + last.length);
          assert.ok(client.text().endsWith(last.slice(-1000)));
          client.socket.end();
        },
        { tls },
      );
    });

    test('a silent stream is closed after the idle timeout, a talking one is not', async () => {
      await withParts(
        echo,
        async ({ connect, app }) => {
          const [quiet, talking] = [await connect(), await connect()];
          for (const client of [quiet, talking]) {
            client.socket.write(upgradeRequest(path));
            await client.until('\r\n\r\n');
          }
          let went = false;
          void quiet.ended.then(() => (went = true));
          for (let i = 0; !went && i < 400; i++) {
            talking.socket.write('.');
            await sleep(50);
          }
          await quiet.ended;
          quiet.socket.end();
          talking.socket.write('still here');
          await talking.until('still here');
          assert.equal(app.routes.open, 1);
          talking.socket.end();
        },
        { tls, idleMs: 1_000 },
      );
    });
  });
}

// Over TLS the server ends such a client itself.
test('the end of a client that came before the runtime answered is told, too', async () => {
  const late: OnUpgrade = (_request, socket) => {
    socket.allowHalfOpen = true;
    setTimeout(() => socket.write(SWITCHING), 300);
    socket.resume().on('end', () => socket.end('heard the end'));
  };
  await withParts(late, async ({ connect }) => {
    const client = await connect();
    client.socket.write(upgradeRequest(path));
    client.socket.end();
    assert.equal(await client.ended, true);
    assert.ok(client.text().endsWith('heard the end'), client.text());
  });
});

test('an error answer of the runtime reaches the client with its body', async () => {
  const refuse: OnUpgrade = (_request, socket) => {
    socket.write(
      'HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nX-Why: because\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    socket.write('6\r\nno ent\r\n');
    setTimeout(() => socket.write('2\r\nry\r\n0\r\n\r\n'), 100);
  };
  await withParts(refuse, async ({ connect, runtime }) => {
    const response = await connect();
    response.socket.write(upgradeRequest(path));
    const text = await response.until('ry');
    assert.match(text, /^HTTP\/1\.1 403 Forbidden\r\n/);
    assert.match(text, /x-why: because/i);
    assert.match(text, /no ent/);
    await response.ended;
    response.socket.end();
    for (const socket of runtime.sockets) socket.destroy();
  });
});

test('an answer that is neither yes nor no is an error', async () => {
  const odd: [answer: string, body: string][] = [
    ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', 'invalid upgrade response: status code 200\n'],
    ['', 'unexpected EOF\n'],
    ['gibberish\r\n\r\n', 'malformed HTTP response'],
  ];
  for (const [answer, body] of odd) {
    await withParts(
      (_request, socket: Duplex) => socket.end(answer),
      async ({ connect }) => {
        const client = await connect();
        client.socket.write(upgradeRequest(path));
        await client.ended;
        assert.match(client.text(), /^HTTP\/1\.1 500 /);
        assert.ok(client.text().includes(body), client.text());
        client.socket.end();
      },
    );
  }
});

test('a client that goes before the runtime has answered takes the connection to the runtime with it', async () => {
  const asked = Promise.withResolvers<undefined>();
  const never: OnUpgrade = (_request, socket) => {
    socket.resume().on('end', () => socket.end());
    asked.resolve(undefined);
  };
  await withParts(never, async ({ connect, app }) => {
    const client = await connect();
    client.socket.write(upgradeRequest(path));
    await asked.promise;
    assert.equal(app.routes.open, 1);
    client.socket.resetAndDestroy();
  });
});

test('a runtime whose certificate nobody vouches for is not spoken to', async () => {
  const tls = await makeTestCertificate();
  const runtime = await startFakeStreamingServer(echo, tls);
  const app = await startStreamingApp({ node, cri: fakeRuntime(() => `${runtime.url}/exec/t`).cri });
  try {
    const client = await rawClient(app.port);
    client.socket.write(upgradeRequest(path));
    await client.ended;
    assert.match(client.text(), /^HTTP\/1\.1 500 [^]*error dialing backend: .*certificate/);
    client.socket.destroy();
  } finally {
    await app.close();
    await runtime.close();
  }
});

test('stopping the server ends all streams', async () => {
  await withParts(echo, async ({ connect, app, runtime }) => {
    const clients = [];
    for (let i = 0; i < 20; i++) {
      const client = await connect();
      client.socket.write(upgradeRequest(path));
      await client.until('\r\n\r\n');
      clients.push(client);
    }
    assert.deepEqual([app.routes.open, runtime.sockets.size], [20, 20]);
    await app.close();
    assert.equal(app.routes.open, 0);
    await Promise.all(clients.map(({ ended }) => ended));
    for (const { socket } of clients) socket.end();
  });
});

test('a slow reader holds the sender back, and memory stays flat', async () => {
  // the runtime sends as much as is taken from it
  const chunk = Buffer.alloc(64 * 1024, 7);
  let produced = 0;
  const total = 200 << 20;
  const flood: OnUpgrade = (_request, socket) => {
    socket.write(SWITCHING);
    socket.resume();
    const more = (): void => {
      while (produced < total) {
        produced += chunk.length;
        if (!socket.write(chunk)) {
          socket.once('drain', more);
          return;
        }
      }
      socket.end();
    };
    more();
  };
  await withParts(flood, async ({ connect }) => {
    const client = await connect();
    client.socket.removeAllListeners('data');
    client.socket.pause();
    client.socket.write(upgradeRequest(path));
    await waitFor('the flood', () => (produced > 1 << 20 ? true : undefined));
    await sleep(500);
    const held = produced;
    // kernel buffers of two connections, and two buffers of ours
    assert.ok(held < 40 << 20, `a reader that does not read got ${held} bytes sent`);
    let received = 0;
    let peak = 0;
    let looked = 0;
    client.socket.on('data', (part: Buffer) => {
      received += part.length;
      if (received - looked < 8 << 20) return;
      looked = received;
      // What is held, not what waits to be collected.
      collectGarbage();
      peak = Math.max(peak, process.memoryUsage().arrayBuffers);
    });
    client.socket.resume();
    await client.ended;
    assert.equal(received, total + SWITCHING.length);
    assert.ok(peak < 60 << 20, `${peak} bytes of buffers for a stream`);
    client.socket.end();
  });
});

test('clients of v5 and of the port-forward tunnel are bridged, others are not', async () => {
  const bridged: string[] = [];
  const runtime = await startFakeStreamingServer(echo);
  const app = await startStreamingApp({
    node,
    cri: fakeRuntime(() => `${runtime.url}/exec/token`).cri,
    bridges: {
      remoteCommand: ({ client, protocol, target, options }) => {
        bridged.push(`${protocol} ${target.pathname} ${JSON.stringify(options)} ${client.head.toString()}`);
        client.socket.write('bridged');
        return Promise.resolve();
      },
      portForward: ({ target }) => {
        bridged.push(`tunnel ${target.pathname}`);
        return Promise.reject(new Error('a bridge that fails'));
      },
    },
  });
  try {
    const say = async (path: string, protocols: string, upgrade = 'websocket'): Promise<string> => {
      const client = await rawClient(app.port);
      const headers = [`Upgrade: ${upgrade}`, `Sec-WebSocket-Protocol: ${protocols}`];
      client.socket.write(`${upgradeRequest(path, headers, 'GET')}early`);
      if (bridged.length < 3) await client.ended;
      else await client.until('early');
      client.socket.destroy();
      return client.text();
    };
    assert.equal(await say(path, 'v5.channel.k8s.io'), 'bridged');
    await say('/attach/ns/web/shell?output=1&input=1', 'v4.channel.k8s.io, v5.channel.k8s.io');
    await say('/portForward/ns/web', 'SPDY/3.1+portforward.k8s.io');
    await say(path, 'v4.channel.k8s.io');
    await say(path, 'v5.channel.k8s.io', 'SPDY/3.1');
    await say('/portForward/ns/web?port=80', 'v4.channel.k8s.io');
    assert.deepEqual(bridged, [
      'v5.channel.k8s.io /exec/token {"stdin":false,"stdout":true,"stderr":false,"tty":false} early',
      'v5.channel.k8s.io /exec/token {"stdin":true,"stdout":true,"stderr":false,"tty":true} early',
      'tunnel /exec/token',
    ]);
    await nothingOpen(app, runtime);
  } finally {
    await app.close();
    await runtime.close();
  }
});
