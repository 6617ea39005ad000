import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Duplex, duplexPair } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { splice } from '../../../actors/serve/streaming/splice.ts';

// What one side sent before its end and the other has not taken yet, on connections that are slow as a test wants them.

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
