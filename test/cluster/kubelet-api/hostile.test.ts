import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { readFileSync } from 'node:fs';
import { waitFor } from '../../tools/wait-for.ts';
import { withCluster } from '../support/cluster-fixture.ts';
import { isReadyPod } from '../support/seen-pods.ts';
import type { Space } from '../support/space.ts';
import { nodeClient } from './support/node-client.ts';
import { openFiles, residentMiB } from './support/process-figures.ts';
import { RawClient } from './support/raw-request.ts';
import { workPod } from './support/work-pod.ts';

const NODE = 'hostile';
const cluster = withCluster({
  nodes: [{ name: NODE }],
  furnish: async () => {
    space = await cluster.space('hostile');
    await space.create(await workPod('work', NODE));
    await space.waitPod('work', 'ready', isReadyPod);
  },
});
let space: Space | undefined;

const node = () => cluster.node(NODE);
const target = () => ({ host: node().address, port: node().ports.port });

/** A client that may do everything. */
async function friend(): Promise<RawClient> {
  const { host, port } = target();
  return new RawClient(host, port, { name: 'friend', pair: await nodeClient(cluster.plane()) });
}

/** A TLS connection of a client that may do everything, for bytes of one's own. */
async function secured(): Promise<TLSSocket> {
  const { cert, key } = await nodeClient(cluster.plane());
  const socket = connectTls({
    ...target(),
    ...{ cert: readFileSync(cert), key: readFileSync(key), rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] },
  });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
}

/** First line of what a server says to these bytes; '' when it ends the connection without a word. */
async function saidTo(socket: Socket | TLSSocket, bytes: string | Buffer, patienceMs = 80_000): Promise<string> {
  let text = '';
  const closed = new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (text.includes('\r\n')) resolve();
    });
    socket.on('close', () => resolve());
    socket.on('end', () => resolve());
  });
  socket.write(bytes);
  const late = sleep(patienceMs, undefined, { ref: false }).then(() => {
    throw new Error(`no answer within ${patienceMs} ms to ${bytes.toString('latin1').slice(0, 80)}`);
  });
  try {
    await Promise.race([closed, late]);
  } finally {
    socket.destroy();
  }
  return text.split('\r\n', 1)[0] ?? '';
}

/** The agent is well: its page says so, its pod and node are ready, it was not started anew. */
async function isWell(pid: number): Promise<void> {
  assert.equal(node().agent.pid, pid);
  await node().agent.mustRun();
  const client = await friend();
  try {
    assert.equal((await client.ask('GET', '/healthz')).body, 'ok');
    const logs = await client.ask('GET', `/containerLogs/${space?.name ?? ''}/work/main?tail=1`);
    assert.deepEqual([logs.status, logs.body], [200, 'trouble\n']);
  } finally {
    client.close();
  }
  assert.ok((await space?.pods())?.every(isReadyPod));
  await node().waitReady();
}

/** Runs `body` and then looks whether the agent is as it was: well, with no more open files and memory than before. */
async function survives(body: () => Promise<void>): Promise<void> {
  const { pid } = node().agent;
  await isWell(pid);
  const files = openFiles(pid);
  const memory = residentMiB(pid);
  await body();
  await waitFor(
    'the open files of the agent to be as before',
    () => (openFiles(pid) <= files + 12 ? true : undefined),
    () => `${files} before, ${openFiles(pid)} now`,
  );
  await waitFor(
    'the memory of the agent to be about as before',
    () => (residentMiB(pid) <= memory + 64 ? true : undefined),
    () => `${memory} MiB before, ${residentMiB(pid)} MiB now`,
  );
  await isWell(pid);
}

const GET = 'GET /healthz HTTP/1.1\r\nHost: node\r\n';

test('a request with headers that are too large is refused', async () => {
  await survives(async () => {
    for (const size of [2 << 20, 8 << 20]) {
      const said = await saidTo(await secured(), `${GET}X-Huge: ${'h'.repeat(size)}\r\n\r\n`);
      // a server may also end the connection while it is still being written to
      assert.match(said, /^(HTTP\/1\.1 431 Request Header Fields Too Large|)$/);
    }
    const many = Array.from({ length: 100_000 }, (_, i) => `X-${i}: many\r\n`).join('');
    assert.match(await saidTo(await secured(), `${GET}${many}\r\n`), /^(HTTP\/1\.1 4(31|00) .*|)$/);
    const long = `GET /${'p'.repeat(2 << 20)} HTTP/1.1\r\nHost: node\r\n\r\n`;
    assert.match(await saidTo(await secured(), long), /^(HTTP\/1\.1 4(31|14) .*|)$/);
  });
});

test('what is no HTTP is refused', async () => {
  await survives(async () => {
    for (const bytes of [
      'no http at all\r\n\r\n',
      '\0\0\0\0\0\0\0\0\r\n\r\n',
      'GET /healthz HTTP/9.9\r\nHost: node\r\n\r\n',
      'GET /healthz HTTP/1.1\r\n\r\n',
      `${GET}Content-Length: many\r\n\r\n`,
      `${GET}Content-Length: -1\r\n\r\n`,
      `${GET}Bad Header: x\r\n\r\n`,
      `POST /run/a/b/c HTTP/1.1\r\nHost: node\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
      `POST /run/a/b/c HTTP/1.1\r\nHost: node\r\nTransfer-Encoding: odd\r\n\r\n`,
    ]) {
      const said = await saidTo(await secured(), bytes);
      assert.match(said, /^(HTTP\/1\.[01] (4\d\d|50[15]) .*|)$/, JSON.stringify(bytes));
    }
  });
});

test('a body that is large or never comes does no harm', async () => {
  await survives(async () => {
    const name = space?.name ?? '';
    const head = (path: string, length: number) =>
      `POST ${path} HTTP/1.1\r\nHost: node\r\nContent-Length: ${length}\r\n\r\n`;
    // 300 clients that promise a body and send some of it; they leave while the server may still wait
    const slow = await Promise.all(Array.from({ length: 100 }, () => secured()));
    for (const [i, socket] of slow.entries()) {
      const path = [`/run/${name}/work/nobody?cmd=x`, '/checkpoint/a/b/c', '/nothing'][i % 3] ?? '';
      socket.write(`${head(path, 1 << 30)}some`);
    }
    await sleep(500);
    await isWell(node().agent.pid);
    for (const socket of slow) socket.destroy();
    // one that sends much to what does not read it
    const large = await secured();
    const block = Buffer.alloc(1 << 20, 'b');
    large.write(head('/pods', 64 << 20));
    const done = once(large, 'close').catch(() => undefined);
    large.on('data', () => undefined);
    for (let i = 0; i < 64 && !large.destroyed; i++) {
      if (!large.write(block)) await Promise.race([once(large, 'drain').catch(() => undefined), done, sleep(5_000)]);
    }
    large.destroy();
  });
});

test('a thousand connections that say nothing, or garbage, do not stop others', async () => {
  await survives(async () => {
    const open: Socket[] = [];
    const dial = async () => {
      const socket = connect(target());
      socket.on('error', () => undefined);
      open.push(socket);
      await once(socket, 'connect');
      return socket;
    };
    try {
      const silent = await Promise.all(Array.from({ length: 1000 }, dial));
      assert.equal(silent.length, 1000);
      await isWell(node().agent.pid);
      // the first half says hello and no more, the other is no TLS
      const hello = Buffer.from('1603010200010001fc0303', 'hex');
      for (const [i, socket] of silent.entries()) socket.write(i % 2 === 0 ? hello : `GET / HTTP/1.1\r\n\r\n${i}`);
      await isWell(node().agent.pid);
    } finally {
      for (const socket of open) socket.destroy();
    }
  });
});

test('a thousand TLS connections with half a request do not stop others', async () => {
  await survives(async () => {
    const open: TLSSocket[] = [];
    try {
      for (let i = 0; i < 1000; i += 50) {
        const some = await Promise.all(Array.from({ length: 50 }, () => secured()));
        for (const socket of some) socket.write('GET /pods HTTP/1.1\r\nHost: no');
        open.push(...some);
      }
      await isWell(node().agent.pid);
    } finally {
      for (const socket of open) socket.destroy();
    }
  });
});

test('plain HTTP is told that this is HTTPS', async () => {
  const socket = connect(target());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const said = await saidTo(socket, `${GET}\r\n`);
  assert.match(said, /^(HTTP\/1\.0 400 Bad Request|)$/);
});

test('what is not there, and names that are none, are answered clearly', async () => {
  await survives(async () => {
    const name = space?.name ?? '';
    const client = await friend();
    try {
      for (const [path, status, body] of [
        [`/containerLogs/${name}/nobody/main`, 404, 'pod "nobody" does not exist'],
        [`/containerLogs/${name}/work/nobody`, 404, 'container "nobody" not found in pod "work"'],
        [`/exec/${name}/nobody/main?command=true&output=1`, 404, 'pod does not exist'],
        [`/attach/${name}/nobody/main?output=1`, 404, 'pod does not exist'],
        [`/portForward/${name}/nobody`, 404, 'pod does not exist'],
        [`/containerLogs/${'n'.repeat(10_000)}/p/c`, 404, 'pod "p" does not exist'],
        [`/containerLogs/%ff%fe/%00/%2e%2e`, 404, undefined],
        [`/containerLogs/${name}/work/..%2f..%2fetc`, 404, undefined],
      ] as const) {
        const answer = await client.ask('GET', path);
        assert.equal(answer.status, status, path.slice(0, 100));
        if (body !== undefined) assert.equal(answer.body, body);
        assert.match(answer.contentType, /^text\/plain/);
      }
      for (const path of [
        '/pods?x=%zz',
        '/pods%',
        '/logs/%',
        '/stats/summary?only_cpu_and_memory=%ff',
        '/%c0%ae%c0%ae/',
      ]) {
        const { status } = await client.ask('GET', path);
        assert.ok(status >= 200 && status < 500, `${path}: ${status}`);
      }
    } finally {
      client.close();
    }
  });
});

test('upgrades that are none do no harm', async () => {
  await survives(async () => {
    const name = space?.name ?? '';
    const path = `/exec/${name}/work/main?command=cat&input=1&output=1`;
    const upgrade = (more: string) => `GET ${path} HTTP/1.1\r\nHost: node\r\nConnection: Upgrade\r\n${more}\r\n`;
    for (const more of [
      'Upgrade: nothing\r\n',
      'Upgrade: websocket\r\n',
      'Upgrade: websocket\r\nSec-WebSocket-Version: 99\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n',
      'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: v9.channel.k8s.io\r\n',
      'Upgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v9.channel.k8s.io\r\n',
    ]) {
      const said = await saidTo(await secured(), upgrade(more));
      assert.match(said, /^(HTTP\/1\.1 (101|400|403|404|426|500) .*|)$/, more);
    }
    // joined, and then garbage
    const spdy = 'Upgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n';
    const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
    const socketProtocol = `Upgrade: websocket\r\n${key}Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n`;
    for (const more of [spdy, socketProtocol]) {
      const socket = await secured();
      socket.write(upgrade(more));
      await Promise.race([once(socket, 'data'), once(socket, 'close')]);
      for (let i = 0; i < 20 && !socket.destroyed; i++) socket.write(Buffer.alloc(64 << 10, 0xff));
      await sleep(300);
      socket.destroy();
    }
    // and clients that leave at once
    const all = Array.from({ length: 100 }, async (_, i) => {
      const socket = await secured();
      socket.write(upgrade(i % 2 === 0 ? spdy : socketProtocol));
      await sleep(i * 5);
      socket.destroy();
    });
    await Promise.all(all);
  });
});
