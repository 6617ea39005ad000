import assert from 'node:assert/strict';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { bridgeRemoteCommand } from '../../../actors/serve/remote-command/bridge-remote-command.ts';
import { tunnelPortForward } from '../../../actors/serve/remote-command/tunnel-port-forward.ts';
import { FrameEncoder } from '../../../actors/serve/spdy/frame-encoder.ts';
import type { SpdyFrame } from '../../../actors/serve/spdy/frames.ts';
import { byteChanges, changedBytes } from '../../pure/fuzz/support/mutate-bytes.ts';
import { nastyText } from '../../pure/fuzz/support/nasty.ts';
import { fuzz, heldBytes } from '../../pure/fuzz/support/runs.ts';
import { silent, startUpgradeServer } from '../remote-command/support/upgrade-server.ts';
import type { UpgradeServer } from '../remote-command/support/upgrade-server.ts';
import { startFakeStreamingServer } from '../streaming/support/fake-streaming-server.ts';
import type { FakeStreamingServer } from '../streaming/support/fake-streaming-server.ts';
import { until } from '../../tools/wait-for.ts';

const faults: unknown[] = [];
const onFault = (error: unknown): void => void faults.push(error);
/** What the runtime says once it has changed protocols; then it listens for a moment. */
let script: Buffer[] = [];
let runtime: FakeStreamingServer;
const servers: Record<'bridge' | 'tunnel', UpgradeServer> = {} as never;
const controller = new AbortController();

before(async () => {
  process.on('uncaughtException', onFault);
  process.on('unhandledRejection', onFault);
  runtime = await startFakeStreamingServer((request, socket) => {
    const protocol = String(request.headers['x-stream-protocol-version']).split(',')[0] ?? '';
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
    );
    for (const piece of script) socket.write(piece);
    socket.resume();
    socket.on('end', () => socket.end());
    // A runtime that accepts no stream is given up after half a minute; this one goes.
    setTimeout(() => socket.destroy(), 30).unref();
  });
  const target = new URL(`${runtime.url}/exec/token`);
  const { signal } = controller;
  servers.bridge = await startUpgradeServer((client) =>
    bridgeRemoteCommand({
      client,
      protocol: 'v5.channel.k8s.io',
      target,
      options: { stdin: true, stdout: true, stderr: true, tty: false },
      log: silent,
      signal,
      onActivity: () => undefined,
    }),
  );
  servers.tunnel = await startUpgradeServer((client) => tunnelPortForward({ client, target, log: silent, signal }));
});
after(async () => {
  controller.abort();
  await Promise.all([servers.bridge.close(), servers.tunnel.close()]);
  await runtime.close();
  process.off('uncaughtException', onFault);
  process.off('unhandledRejection', onFault);
});

const payload = fc.oneof(
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  nastyText.map((text) => Buffer.from(text)),
  // A channel, its close signal, a size of a terminal.
  fc
    .tuple(fc.constantFrom(0, 1, 2, 3, 4, 5, 254, 255), fc.uint8Array({ maxLength: 8 }))
    .map(([channel, rest]) => Buffer.from([channel, ...rest])),
  nastyText.map((width) =>
    Buffer.concat([Buffer.from([4]), Buffer.from(JSON.stringify({ Width: width, Height: 1e21 }))]),
  ),
);

interface WsFrame {
  fin: boolean;
  rsv: number;
  opcode: number;
  masked: boolean;
  /** What the head says; undefined = the truth. */
  length: number | undefined;
  data: Buffer;
}

/** One frame of RFC 6455, right or wrong. */
function encode({ fin, rsv, opcode, masked, length, data }: WsFrame): Buffer {
  const size = length ?? data.length;
  const head = Buffer.alloc(size < 126 ? 2 : size < 65_536 ? 4 : 10);
  head[0] = (fin ? 0x80 : 0) | (rsv << 4) | opcode;
  head[1] = (masked ? 0x80 : 0) | (size < 126 ? size : size < 65_536 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(size, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(size), 2);
  const mask = Buffer.from([1, 2, 3, 4]);
  const body = masked ? Buffer.from(data.map((byte, i) => byte ^ (mask[i % 4] ?? 0))) : data;
  return Buffer.concat([head, ...(masked ? [mask] : []), body]);
}

const wsFrame = fc
  .record({
    fin: fc.constantFrom(true, true, true, false),
    rsv: fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 4),
    opcode: fc.constantFrom(2, 2, 2, 2, 0, 1, 8, 9, 10, 3, 15),
    masked: fc.constantFrom(true, true, true, true, true, false),
    length: fc.constantFrom(
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      126,
      65_536,
      2 ** 33,
      Number.MAX_SAFE_INTEGER,
    ),
    data: payload,
  })
  .map(encode);

const streamId = fc.constantFrom(1, 2, 3, 5, 7, 9, 0x7fffffff);
const headers = fc
  .array(
    fc.tuple(
      fc.constantFrom('streamtype', 'port', 'requestid', ':x', 'a'),
      fc.constantFrom('stdout', 'stderr', 'error', 'data', '99999999999', '', 'x\0y'),
    ),
    { maxLength: 4 },
  )
  .map((pairs) => new Map<string, string>(pairs));
const spdyFrame: fc.Arbitrary<SpdyFrame> = fc.oneof(
  fc.record({
    type: fc.constantFrom('synReply' as const, 'headers' as const),
    streamId,
    fin: fc.boolean(),
    headers,
  }),
  fc.record({
    type: fc.constant('synStream' as const),
    streamId,
    associatedTo: fc.nat(9),
    priority: fc.nat(7),
    fin: fc.boolean(),
    unidirectional: fc.boolean(),
    headers,
  }),
  fc.record({ type: fc.constant('rstStream' as const), streamId, status: fc.integer({ min: 1, max: 0xffffffff }) }),
  fc.record({ type: fc.constant('ping' as const), id: fc.integer({ min: 1, max: 0xffffffff }) }),
  fc.record({ type: fc.constant('goAway' as const), lastStreamId: fc.nat(9), status: fc.nat(9) }),
  fc.record({ type: fc.constant('windowUpdate' as const), streamId, delta: fc.constantFrom(0, 1, 0x7fffffff) }),
  fc.record({
    type: fc.constant('settings' as const),
    settings: fc.constant(0).map((value) => [{ flags: 0, id: 4, value }]),
  }),
  fc.record({ type: fc.constant('data' as const), streamId, data: payload, fin: fc.boolean() }),
);
const spdyFrames: fc.Arbitrary<Buffer[]> = fc.array(spdyFrame, { maxLength: 12 }).map((frames) => {
  const encoder = new FrameEncoder();
  return frames.map((frame) => encoder.encode(frame));
});
/** The runtime accepts all streams of the client, and then says what it says. */
const replies = ((): Buffer => {
  const encoder = new FrameEncoder();
  return Buffer.concat(
    [1, 3, 5, 7].map((id) => encoder.encode({ type: 'synReply', streamId: id, fin: false, headers: new Map() })),
  );
})();
const spdy = fc
  .tuple(
    spdyFrames,
    fc.oneof(
      { weight: 1, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: byteChanges([Buffer.from('80030001', 'hex')]) },
    ),
    fc.boolean(),
  )
  .map(([frames, changes, accepted]) => {
    const all = Buffer.concat(accepted ? [replies, ...frames] : frames);
    return changes === null ? all : changedBytes(all, changes);
  });

/** Upgrades, says its bytes, and goes after a moment. */
async function talk(server: UpgradeServer, protocol: string, pieces: readonly Buffer[]): Promise<void> {
  const before = server.served.length;
  const socket: Socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  const over = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => undefined);
  const changed = new Promise((resolve) => socket.once('data', resolve));
  socket.write(
    `GET / HTTP/1.1\r\nHost: n\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`,
  );
  await Promise.race([changed, over]);
  socket.resume();
  for (const piece of pieces) socket.write(piece);
  await Promise.race([over, new Promise((done) => setTimeout(done, 8))]);
  socket.destroy();
  await over;
  // A session that outlives its client, or rejects, is a failure of the test's time or of this line.
  await Promise.all(server.served.slice(before));
  server.served.length = 0;
}

async function play(kind: 'bridge' | 'tunnel', frames: readonly Buffer[], bytes: Buffer, cut: number): Promise<void> {
  script = [bytes.subarray(0, cut), bytes.subarray(cut)];
  await talk(servers[kind], kind === 'bridge' ? 'v5.channel.k8s.io' : 'SPDY/3.1+portforward.k8s.io', frames);
  assert.deepEqual(faults, []);
}

const input = fc.tuple(fc.array(wsFrame, { maxLength: 6 }), spdy, fc.nat(300));

for (const kind of ['bridge', 'tunnel'] as const) {
  test(
    `streams, ${kind}: whatever client and runtime say, the session ends with them`,
    { timeout: 600_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(input, ([frames, bytes, cut]) => play(kind, frames, bytes, cut)),
        fuzz(150),
      );
    },
  );
}

test('streams: nothing of them is kept', async () => {
  const inputs = fc.sample(input, { numRuns: 40, seed: 5 });
  const round = async (): Promise<void> => {
    for (const [frames, bytes, cut] of inputs) await play('bridge', frames, bytes, cut);
    for (const [frames, bytes, cut] of inputs) await play('tunnel', frames, bytes, cut);
  };
  await round();
  const start = heldBytes();
  await round();
  await round();
  await until(() => runtime.sockets.size === 0, 'the connections to the runtime to close');
  const grown = heldBytes() - start;
  assert.ok(grown < 6_000_000, `${String(grown)} bytes`);
});

test('streams: a message longer than 32 MiB, and a header block that unpacks to much more than it is', async () => {
  const big = encode({ fin: true, rsv: 0, opcode: 2, masked: true, length: 33 * 1024 * 1024, data: Buffer.alloc(0) });
  const bomb = new FrameEncoder().encode({
    type: 'synReply',
    streamId: 1,
    fin: false,
    headers: new Map([['x', 'a'.repeat(4_000_000)]]),
  });
  const before = heldBytes();
  for (let i = 0; i < 5; i++) await play('bridge', [big, Buffer.alloc(1 << 20)], bomb, 10);
  assert.ok(heldBytes() - before < 8_000_000);
});
