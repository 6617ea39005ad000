import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { serveCommand, StreamServer } from '../../../actors/node/fleet/stream-server.ts';

/** What a client hears of a command that ends so: the channels' bytes by their numbers. @param protocol none when it is '' */
async function heard(t: TestContext, protocol: string, exitCode: number): Promise<Record<string, string>> {
  const server = new StreamServer();
  await server.start();
  t.after(() => server.stop());
  const end = { exitCode, stdout: Buffer.from('out'), stderr: Buffer.from('err') };
  const kinds = ['error', 'stdout', 'stderr'];
  const { url } = server.offer({ kinds, serve: (streams) => serveCommand(streams, () => Promise.resolve(end)) });
  const ws = new WebSocket(url.replace('http:', 'ws:'), protocol === '' ? [] : [protocol]);
  const said: Record<string, string> = {};
  const lengths: number[] = [];
  ws.on('message', (data: Buffer, isBinary: boolean) => {
    const text = data.toString();
    const [channel, bytes] = isBinary
      ? [String(data[0]), text.slice(1)]
      : [text[0] ?? '', Buffer.from(text.slice(1), 'base64').toString()];
    assert.equal(isBinary, !protocol.includes('base64'));
    lengths.push(data.length);
    said[channel] = (said[channel] ?? '') + bytes;
  });
  const [code] = (await once(ws, 'close')) as [number];
  assert.deepEqual([code, ws.protocol], [1000, protocol]);
  // The connection is told of by an empty message.
  assert.equal(lengths.indexOf(1), 0);
  assert.equal(lengths.lastIndexOf(1), 0, 'of nothing else nothing is said');
  return said;
}

for (const protocol of ['', 'channel.k8s.io', 'base64.channel.k8s.io'])
  test(`a command over a WebSocket with the protocol "${protocol}" tells of a failure in words, and of a success nothing`, async (t) => {
    assert.deepEqual(await heard(t, protocol, 0), { 1: 'out', 2: 'err' });
    assert.deepEqual(await heard(t, protocol, 3), {
      1: 'out',
      2: 'err',
      3: 'command terminated with non-zero exit code: exit status 3',
    });
  });

for (const protocol of ['v4.channel.k8s.io', 'v4.base64.channel.k8s.io'])
  test(`one with ${protocol} gets a status`, async (t) => {
    const { 3: status = '', ...output } = await heard(t, protocol, 0);
    assert.deepEqual(output, { 1: 'out', 2: 'err' });
    assert.deepEqual(JSON.parse(status), { metadata: {}, status: 'Success' });
  });
