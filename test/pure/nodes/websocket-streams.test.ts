import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { serveCommand, StreamServer } from '../../../actors/node/fleet/stream-server.ts';

/** What a client of this protocol hears of a command that ends so: the channels' bytes by their numbers. */
async function heard(t: TestContext, protocol: string, exitCode: number): Promise<Record<number, string>> {
  const server = new StreamServer();
  await server.start();
  t.after(() => server.stop());
  const end = { exitCode, stdout: Buffer.from('out'), stderr: Buffer.from('err') };
  const kinds = ['error', 'stdout', 'stderr'];
  const { url } = server.offer({ kinds, serve: (streams) => serveCommand(streams, () => Promise.resolve(end)) });
  const ws = new WebSocket(url.replace('http:', 'ws:'), [protocol]);
  const said: Record<number, string> = {};
  ws.on('message', (data: Buffer) => {
    const channel = data[0] ?? -1;
    said[channel] = (said[channel] ?? '') + data.subarray(1).toString();
  });
  const [code] = (await once(ws, 'close')) as [number];
  assert.deepEqual([code, ws.protocol], [1000, protocol]);
  return said;
}

test('a command over a WebSocket of the first version tells of a failure in words, and of a success nothing', async (t) => {
  assert.deepEqual(await heard(t, 'channel.k8s.io', 0), { 1: 'out', 2: 'err' });
  assert.deepEqual(await heard(t, 'channel.k8s.io', 3), {
    1: 'out',
    2: 'err',
    3: 'command terminated with non-zero exit code: exit status 3',
  });
});

test('one of the fourth version gets a status', async (t) => {
  const { 3: status = '', ...output } = await heard(t, 'v4.channel.k8s.io', 0);
  assert.deepEqual(output, { 1: 'out', 2: 'err' });
  assert.deepEqual(JSON.parse(status), { metadata: {}, status: 'Success' });
});
