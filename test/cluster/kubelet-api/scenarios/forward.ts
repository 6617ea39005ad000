import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { TRANSPORTS, WORK } from '../support/api-fixture.ts';
import type { ApiFixture } from '../support/api-fixture.ts';
import { openFiles } from '../support/process-figures.ts';
import { ECHO_PORT } from '../support/work-pod.ts';
import { waitFor } from '../../../tools/wait-for.ts';

/**
 * Sends `data` on a connection of its own and says whether the same came back. It ends its own side when it has all:
 * containerd gives the other direction one second after the first has ended, which a busy machine may need longer for.
 */
async function echoes(port: number, data: Buffer): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  socket.setTimeout(60_000, () => socket.destroy(new Error('nothing came for a minute')));
  const hash = createHash('sha256');
  let bytes = 0;
  const all = new Promise<void>((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => {
      hash.update(chunk);
      bytes += chunk.length;
      if (bytes >= data.length) socket.end();
    });
    socket.on('end', () => resolve());
    socket.on('error', reject);
  });
  try {
    await once(socket, 'connect');
    socket.write(data);
    await all;
    return bytes === data.length && hash.digest('hex') === createHash('sha256').update(data).digest('hex');
  } finally {
    socket.destroy();
  }
}

/** `kubectl port-forward`. */
export function forwardScenarios(api: ApiFixture): void {
  for (const { name, env } of TRANSPORTS) {
    describe(`kubectl port-forward over ${name}`, () => {
      test('50 connections at the same time, some of them cut off', async () => {
        const agent = api.node().agent.pid;
        const files = openFiles(agent);
        const forward = api.kubectl(['port-forward', `pod/${WORK}`, `:${ECHO_PORT}`], env);
        try {
          const [, text] = await forward.waitFor(/Forwarding from 127\.0\.0\.1:(\d+) -> /);
          const port = Number(text);
          assert.ok(await echoes(port, randomBytes(1000)), 'one alone');
          const parallel = Array.from({ length: 50 }, (_, i) => echoes(port, randomBytes(20_000 + i * 10_000)));
          const rude = Array.from({ length: 10 }, async () => {
            const socket = connect(port, '127.0.0.1');
            socket.on('error', () => undefined);
            await once(socket, 'connect');
            socket.write(randomBytes(50_000));
            await Promise.race([once(socket, 'data'), once(socket, 'close')]);
            socket.destroy();
          });
          assert.deepEqual(await Promise.all(parallel), Array(50).fill(true));
          await Promise.all(rude);
          assert.ok(await echoes(port, randomBytes(1 << 20)), 'one after the others');
        } finally {
          await forward.kill('SIGINT');
        }
        await waitFor(
          'the connections to be gone from the agent',
          () => (openFiles(agent) <= files + 12 ? true : undefined),
          () => `${files} open files before, ${openFiles(agent)} after`,
        );
      });

      test('a port on which nobody listens', async () => {
        const forward = api.kubectl(['port-forward', `pod/${WORK}`, ':81'], env);
        try {
          const [, text] = await forward.waitFor(/Forwarding from 127\.0\.0\.1:(\d+) -> /);
          assert.equal(await echoes(Number(text), Buffer.from('hello?')).catch(() => false), false);
          await forward.waitFor(/connection refused/, 'err');
        } finally {
          await forward.kill('SIGINT');
        }
      });
    });
  }
}
