import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { tunnelPortForward } from '../../../actors/serve/remote-command/tunnel-port-forward.ts';
import { FrameDecoder } from '../../../actors/serve/spdy/frame-decoder.ts';
import { FrameEncoder } from '../../../actors/serve/spdy/frame-encoder.ts';
import type { SpdyFrame } from '../../../actors/serve/spdy/frames.ts';
import { startFakeSpdyRuntime } from './support/fake-spdy-runtime.ts';
import type { FakeSession, FakeSpdyRuntime } from './support/fake-spdy-runtime.ts';
import { silent, startUpgradeServer } from './support/upgrade-server.ts';
import type { UpgradeServer } from './support/upgrade-server.ts';

const PROTOCOL = 'SPDY/3.1+portforward.k8s.io';

describe('the tunnel of SPDY through a WebSocket', () => {
  let runtime: FakeSpdyRuntime;
  let server: UpgradeServer;
  let agreed: string | undefined;
  const controller = new AbortController();

  async function start(play: (session: FakeSession) => void): Promise<WebSocket> {
    runtime = await startFakeSpdyRuntime(play);
    server = await startUpgradeServer((client) =>
      tunnelPortForward({ client, target: runtime.url, log: silent, signal: controller.signal }),
    );
    // ws takes no sub-protocol with a slash: the header is given, and taken away before ws checks it
    const headers = { 'Sec-WebSocket-Protocol': PROTOCOL };
    const ws = new WebSocket(server.url, { perMessageDeflate: false, headers });
    ws.on('upgrade', (answer) => {
      agreed = answer.headers['sec-websocket-protocol'];
      delete answer.headers['sec-websocket-protocol'];
    });
    ws.on('error', () => {});
    await new Promise((resolve, reject) => ws.once('open', resolve).once('error', reject));
    return ws;
  }

  afterEach(async () => {
    await Promise.all(server.served);
    for (let i = 0; i < 1_500 && (runtime.sockets.size > 0 || server.sockets.size > 0); i++) await sleep(20);
    const left = [runtime.sockets.size, server.sockets.size];
    await server.close();
    await runtime.close();
    assert.deepEqual(left, [0, 0], 'connections left at the runtime, at the server');
  });

  it('carries the frames of both sides, however they are cut, and ends with the client', async () => {
    let protocol: unknown;
    const ws = await start((s) => {
      protocol = s.request.headers['x-stream-protocol-version'];
      void s.stream('data').then((stream) => stream.pipe(new PassThrough()).pipe(stream));
    });
    assert.equal(agreed, PROTOCOL);
    const decoder = new FrameDecoder();
    const encoder = new FrameEncoder();
    const got = createHash('sha256');
    let bytes = 0;
    const seen: string[] = [];
    const done = new Promise<void>((resolve) => {
      const onFrame = (frame: SpdyFrame) => {
        if (frame.type !== 'data') seen.push(frame.type);
        else {
          got.update(frame.data);
          bytes += frame.data.length;
          if (frame.fin) resolve();
        }
      };
      ws.on('message', (data: Buffer, isBinary) => {
        assert.ok(isBinary);
        decoder.push(data, onFrame);
      });
    });
    const headers = new Map([['streamtype', 'data']]);
    const rest = { associatedTo: 0, priority: 0, fin: false, unidirectional: false };
    const opening = encoder.encode({ type: 'synStream', streamId: 1, headers, ...rest });
    for (const byte of opening) ws.send(Buffer.from([byte])); // Go's framer writes word by word
    const data = randomBytes(8 * 1024 * 1024);
    for (let at = 0; at < data.length; at += 32 * 1024) {
      const piece = data.subarray(at, at + 32 * 1024);
      ws.send(encoder.encode({ type: 'data', streamId: 1, data: piece, fin: at + piece.length === data.length }));
    }
    await done;
    assert.equal(bytes, data.length);
    assert.equal(got.digest('hex'), createHash('sha256').update(data).digest('hex'));
    assert.deepEqual([protocol, seen], ['portforward.k8s.io', ['synReply']]);
    ws.close(1000);
  });

  it('closes the WebSocket when the runtime hangs up', async () => {
    const ws = await start((s) => void setTimeout(() => s.connection.close(), 50));
    const [code] = await new Promise<[number]>((resolve) => ws.on('close', (...args) => resolve([args[0]])));
    assert.equal(code, 1000);
  });

  it('ends the session of a client that sends text', async () => {
    const ws = await start(() => {});
    ws.send('hello');
    assert.equal(await new Promise((resolve) => ws.on('close', resolve)), 1003);
  });

  it('closes the connection to the runtime when the client vanishes', async () => {
    let lost: Promise<Error | undefined> | undefined;
    const ws = await start((s) => (lost = s.connection.closed));
    ws.terminate();
    await Promise.all(server.served);
    assert.match(String(await lost), /SPD003/);
  });

  it('ends with its signal', async () => {
    const ws = await start(() => {});
    controller.abort();
    assert.equal(await new Promise((resolve) => ws.on('close', resolve)), 1001);
  });
});
