import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { Duplex, duplexPair } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { splice } from '../../../actors/serve/streaming/splice.ts';
import { PATIENCE_MS } from '../../tools/wait-for.ts';
import { joined, ways } from './support/joined.ts';

// What one side sent before its end and the other has not taken yet.

for (const drainMs of [20_000, 300])
  test(`a runtime that has ended waits ${drainMs === 300 ? 'not for ever ' : ''}for a client that takes nothing`, async () => {
    const [near, far] = duplexPair({ highWaterMark: 1 << 16 });
    const [runtime, process] = duplexPair({ highWaterMark: 1 << 20 });
    const whole = 1 << 18;
    process.end(Buffer.alloc(whole, 7));
    const over = splice(near, runtime, { signal: new AbortController().signal, lingerMs: 50, drainMs });
    // many times as long as silence is borne, and as long as drainMs may be in the other case
    await sleep(800);
    let received = 0;
    far.on('data', (part: Buffer) => (received += part.length)).on('end', () => far.end());
    process.resume();
    await over;
    if (drainMs === 300) assert.ok(received < whole, `all ${received} bytes came`);
    else assert.equal(received, whole);
  });

test('a client that has ended, and been ended, leaves its last bytes to a runtime that takes them later', async () => {
  const [near, far] = duplexPair({ highWaterMark: 1 << 20 });
  const gone = once(near, 'close');
  let taken = 0;
  const runtime = new Duplex({
    highWaterMark: 1 << 20,
    read() {
      this.push(null);
    },
    // The first piece is on its way until the client has gone, the others wait behind it.
    write: (piece: Buffer, _encoding, written) => {
      void gone.then(() => {
        taken += piece.length;
        written();
      });
    },
  });
  const over = splice(near, runtime, { signal: new AbortController().signal });
  far.resume();
  const pieces = 16;
  for (let i = 0; i < pieces; i++) far.write(Buffer.alloc(1 << 12, 7));
  far.end();
  assert.deepEqual(await over, { sent: pieces << 12, received: 0 });
  assert.equal(taken, pieces << 12);
});

for (const who of ['client', 'runtime'])
  test(`a ${who} that had ended before the two were joined is closed, and the other one with it`, async () => {
    const [near, far] = duplexPair();
    const [runtime, process] = duplexPair();
    const [early, sender] = who === 'client' ? [near, far] : [runtime, process];
    sender.end();
    // Node's sockets look for their end by themselves.
    early.read(0);
    await once(early, 'end');
    // They take all that comes, and say nothing.
    far.resume();
    process.resume();
    const over = splice(near, runtime, { signal: new AbortController().signal, lingerMs: 50 });
    assert.deepEqual(await Promise.race([over, sleep(PATIENCE_MS, undefined, { ref: false })]), {
      sent: 0,
      received: 0,
    });
  });

for (const way of ways)
  test(`so it is on connections of the system: ${way[0]} client, ${way[1]} runtime`, async () => {
    const made = new Set<Socket>();
    const onSocket = (message: unknown): void => {
      made.add((message as { socket: Socket }).socket);
    };
    subscribe('net.client.socket', onSocket);
    try {
      await joined(way, async (client, runtime) => {
        const address = (runtime as Duplex & { address(): AddressInfo }).address();
        const towardsRuntime = [...made].find(({ remotePort }) => remotePort === address.port);
        assert.ok(towardsRuntime !== undefined);
        runtime.pause();
        client.resume();
        // Until the system's buffers are full and the agent has something left in its own.
        const piece = Buffer.alloc(4 << 10, 7);
        let sent = 0;
        for (let full = 0; full < 5;) {
          full = towardsRuntime.writableLength > 0 ? full + 1 : 0;
          if (full > 0) await sleep(10);
          else {
            if (!client.write(piece)) await once(client, 'drain');
            await sleep(0);
            sent += piece.length;
          }
        }
        const gone = once(client, 'close');
        runtime.end();
        client.end();
        await gone;
        let taken = 0;
        runtime.on('data', (part: Buffer) => (taken += part.length)).resume();
        await once(runtime, 'end');
        assert.equal(taken, sent);
      });
    } finally {
      unsubscribe('net.client.socket', onSocket);
    }
  });
