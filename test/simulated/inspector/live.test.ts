import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { LiveMessage } from '../../../actors/inspect/inspector/inspector-api.ts';
import { feed, folder, journalingShard, lifeOf } from '../../pure/journal/journal-fixture.ts';
import { podNamed, startPods } from '../../pure/inspector/made-journal.ts';
import { until } from '../agent/support/bench.ts';
import { served, TOKEN } from './served.ts';

/** A page that listens. */
async function listening(
  t: TestContext,
  port: number,
): Promise<{ socket: WebSocket; heard: LiveMessage[]; at: number[] }> {
  const heard: LiveMessage[] = [];
  const at: number[] = [];
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/live`, { headers: { authorization: `Bearer ${TOKEN}` } });
  t.after(() => socket.terminate());
  socket.on('message', (data: Buffer) => {
    heard.push(JSON.parse(data.toString()) as LiveMessage);
    at.push(performance.now());
  });
  await once(socket, 'open');
  return { socket, heard, at };
}

test('a page hears of a pod while it lives, and never more than four batches a second', async (t) => {
  const dir = folder(t);
  const server = await served(t, { mode: 'live', dir });
  const { heard, at } = await listening(t, server.port);
  const shard = journalingShard(dir);
  t.after(() => shard.close());
  const life = lifeOf(podNamed('web'));
  for (const message of life) {
    await feed(shard, 'web', [message]);
    // long enough for several batches, however many messages a life has
    await sleep(Math.ceil(1_500 / life.length));
  }
  const last = await until('the end of the pod', () =>
    heard.flatMap((m) => (m.type === 'pods' ? m.pods : [])).find((pod) => pod.gone),
  );
  assert.deepEqual([last.name, last.state, last.steps], ['web', 'terminated.finished', life.length]);
  await until('the number of steps', () => heard.some((m) => m.type === 'steps' && m.total === life.length));
  const batches = heard.filter((m) => m.type === 'pods').length;
  const seconds = ((at.at(-1) ?? 0) - (at[0] ?? 0)) / 1_000;
  // what one hears late on a busy machine comes closer to the next
  assert.ok(batches <= seconds * 4 + 4, `${batches} batches in ${seconds} s`);
  assert.ok(batches > 1);
});

test('a page of another origin cannot listen, nor one without a token', async (t) => {
  const server = await served(t, { mode: 'live', dir: folder(t) });
  const status = async (headers: Record<string, string>): Promise<number> => {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/api/live`, { headers });
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
    socket.on('error', () => undefined).terminate();
    return response.statusCode;
  };
  assert.equal(await status({}), 401);
  assert.equal(await status({ authorization: `Bearer ${TOKEN}`, origin: 'https://evil.example' }), 403);
  assert.equal(await status({ authorization: `Bearer ${TOKEN}`, host: 'evil.example' }), 403);
});

test('a client that takes nothing is cut off; others go on', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir, { maxBytes: 1 << 28 });
  const pods = Array.from({ length: 2_000 }, (_, i) => podNamed(`pod-${i}`));
  await startPods(shard, pods);
  t.after(() => shard.close());
  const server = await served(t, { mode: 'live', dir });
  // A client by hand that stops to read after the handshake.
  const slow = connect(server.port, '127.0.0.1');
  t.after(() => slow.destroy());
  slow.write(
    `GET /api/live HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: Upgrade\r\n` +
      'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  );
  await once(slow, 'data');
  slow.pause();
  const quick = await listening(t, server.port);
  slow.on('error', () => undefined);
  // Changes of all pods, again and again: some 0.8 MB each time.
  const change = setInterval(() => {
    const changed = [...server.inspector.index.pods.values()].map(({ line }) => line);
    for (const listener of (server.inspector as unknown as { listeners: Set<(c: unknown) => void> }).listeners)
      listener({ pods: changed, lost: [], node: null, machines: [] });
  }, 100);
  t.after(() => clearInterval(change));
  // Long before a client that answers no ping would be given up.
  await until('the client to be cut off', () => closedByPeer(slow), { withinMs: 45_000 });
  assert.equal(quick.socket.readyState, WebSocket.OPEN);
});

/** A connection that was reset shows it on the next write. */
function closedByPeer(socket: ReturnType<typeof connect>): boolean {
  socket.write(Buffer.from([0x8a, 0x80, 0, 0, 0, 0]));
  return socket.destroyed;
}
