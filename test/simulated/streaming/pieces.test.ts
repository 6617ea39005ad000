import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../tools/wait-for.ts';
import { joined, ways } from './support/joined.ts';

// Memory of reads is used again and given back by hand: no byte may be another one's, whoever is slow and whoever breaks off.

/** What both sides send, over and over; no multiple of any buffer, so that memory used too early shows. */
const PATTERN = randomBytes((1 << 20) + 13);
/** As SPDY's frames come: heads by themselves, then pieces that fill no buffer, and some that fill several. */
const PIECES = [4, 4, 32 << 10, 1, 64 << 10, 700, 128 << 10, 300_001, 16 << 10];

/** The bytes of a stream from `at` on. */
function patternAt(at: number, length: number): Buffer {
  const parts: Buffer[] = [];
  for (let done = 0; done < length;) {
    const from = (at + done) % PATTERN.length;
    const part = PATTERN.subarray(from, Math.min(from + length - done, PATTERN.length));
    parts.push(part);
    done += part.length;
  }
  return Buffer.concat(parts);
}

/** Sends so many bytes as fast as they are taken. */
async function send(to: Duplex, total: number): Promise<void> {
  let sent = 0;
  for (let i = 0; sent < total && !to.destroyed; i++) {
    const length = Math.min(PIECES[i % PIECES.length] ?? 1, total - sent);
    const taken = to.write(patternAt(sent, length));
    sent += length;
    if (!taken) await Promise.race([once(to, 'drain'), once(to, 'close')]).catch(() => undefined);
  }
}

/** Looks at each byte that comes, and stops listening now and then. */
function check(from: Duplex, rest: number): { readonly received: number; readonly wrong: string } {
  const seen = { received: 0, wrong: '' };
  let next = rest;
  from.on('data', (chunk: Buffer) => {
    if (!chunk.equals(patternAt(seen.received, chunk.length))) seen.wrong ||= `wrong after byte ${seen.received}`;
    seen.received += chunk.length;
    if (seen.received < next) return;
    next += rest;
    from.pause();
    setTimeout(() => from.resume(), 20);
  });
  return seen;
}

for (const way of ways) {
  const name = `${way[0]} client, ${way[1]} runtime`;

  test(`${name}: both ways at once, both sides slow now and then, one end after the other`, async () => {
    await joined(way, async (client, runtime) => {
      const total = 24 << 20;
      const [atClient, atRuntime] = [check(client, 900_000), check(runtime, 1_500_000)];
      const over = Promise.all([once(client, 'end'), once(runtime, 'end')]);
      await Promise.all([
        send(client, total).then(() => client.end()),
        // the runtime still sends when the client has ended
        once(runtime, 'end').then(async () => {
          await send(runtime, 1 << 20).then(() => runtime.end());
        }),
        over,
      ]);
      assert.deepEqual([atRuntime.wrong, atRuntime.received], ['', total]);
      assert.deepEqual([atClient.wrong, atClient.received], ['', 1 << 20]);
    });
    await joined(way, async (client, runtime) => {
      const total = 24 << 20;
      const [atClient, atRuntime] = [check(client, 1_100_000), check(runtime, 700_000)];
      const over = Promise.all([once(client, 'end'), once(runtime, 'end')]);
      await Promise.all([send(client, total), send(runtime, total)]);
      runtime.end();
      client.end();
      await over;
      assert.deepEqual([atRuntime.wrong, atRuntime.received], ['', total]);
      assert.deepEqual([atClient.wrong, atClient.received], ['', total]);
    });
  });

  for (const breaks of ['client', 'runtime'] as const)
    test(`${name}: what came before the ${breaks} broke off is right`, async () => {
      for (const after of [3_000_000, 5_000_001]) {
        await joined(way, async (client, runtime) => {
          const [atClient, atRuntime] = [check(client, 200_000), check(runtime, 300_000)];
          const sending = Promise.all([send(client, 64 << 20), send(runtime, 64 << 20)]);
          const [leaver, seen, stayer] =
            breaks === 'client' ? [client, atClient, runtime] : [runtime, atRuntime, client];
          stayer.on('end', () => stayer.end());
          await waitFor('enough bytes', () => (seen.received >= after ? true : undefined));
          leaver.destroy();
          await sending;
          await sleep(50);
          assert.deepEqual([atRuntime.wrong, atClient.wrong], ['', '']);
          assert.ok(atRuntime.received > 0 && atClient.received > 0);
          stayer.destroy();
        });
      }
    });
}
