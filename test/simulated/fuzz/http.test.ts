import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { fuzz, heldBytes } from '../../pure/fuzz/support/runs.ts';
import { byteChanges, changedBytes } from '../../pure/fuzz/support/mutate-bytes.ts';
import { nastyText } from '../../pure/fuzz/support/nasty.ts';
import { startFakeAgent } from '../server/fake-agent.ts';
import type { FakeAgent } from '../server/fake-agent.ts';
import { fakeRuntime, webPod } from '../streaming/support/fake-runtime.ts';
import { startFakeStreamingServer, SWITCHING } from '../streaming/support/fake-streaming-server.ts';
import type { FakeStreamingServer } from '../streaming/support/fake-streaming-server.ts';
import { startStreamingApp } from '../streaming/support/streaming-app.ts';
import type { StreamingApp } from '../streaming/support/streaming-app.ts';
import { until } from '../../tools/wait-for.ts';

let agent: FakeAgent;
let runtime: FakeStreamingServer;
let app: StreamingApp;
const faults: unknown[] = [];
const onFault = (error: unknown): void => void faults.push(error);

before(async () => {
  process.on('uncaughtException', onFault);
  process.on('unhandledRejection', onFault);
  agent = await startFakeAgent();
  runtime = await startFakeStreamingServer((_request, socket) => {
    socket.write(SWITCHING);
    socket.pipe(socket);
  });
  const { cri } = fakeRuntime(() => `${runtime.url}/exec/token`);
  app = await startStreamingApp({ node: { podNamed: () => webPod }, cri });
});
after(async () => {
  process.off('uncaughtException', onFault);
  process.off('unhandledRejection', onFault);
  await agent.server.close();
  await app.close();
  await runtime.close();
});

/** Sends bytes in pieces, waits until the server has said `first`, and then nothing more for `quietMs`, and goes. */
function talk(port: number, pieces: readonly Buffer[], quietMs = 25, first = ''): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    let text = '';
    let quiet: NodeJS.Timeout | undefined;
    const end = (): void => {
      clearTimeout(quiet);
      socket.destroy();
      resolve(text);
    };
    const later = (): void => {
      clearTimeout(quiet);
      if (!text.includes(first)) return;
      quiet = setTimeout(end, quietMs);
    };
    socket.on('error', end).on('close', end);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      later();
    });
    socket.on('connect', () => {
      for (const piece of pieces) socket.write(piece);
      later();
    });
  });
}

const NO_UPGRADE = /^HTTP\/1\.1 500 (?:.+\r\n)+\r\nUpgrade request required/gm;
const METHODS = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom('GET', 'POST') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('PUT', 'HEAD', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE', 'PATCH', 'get', 'X'),
  },
);
const STREAMS = ['/exec/ns/web/app', '/attach/ns/web/app', '/portForward/ns/web', '/run/ns/web/app'];
const PATHS = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('/pods', '/healthz', '/metrics', '/healthz/log') },
  { weight: 4, arbitrary: fc.constantFrom(...STREAMS) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '/',
      '//',
      '*',
      'http://x/pods',
      '/../pods',
      '/%2e%2e/pods',
      '/%',
      '/%ff',
      '/pods?%zz',
      `/${'a'.repeat(9_000)}`,
    ),
  },
);
/** What asks for another protocol: whole, or a part of it. */
const SPDY = ['Connection: Upgrade', 'Upgrade: SPDY/3.1', 'X-Stream-Protocol-Version: v4.channel.k8s.io'];
const WEBSOCKET = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Protocol: v5.channel.k8s.io',
];
const upgrade = fc.oneof(
  { weight: 3, arbitrary: fc.constant<string[]>([]) },
  { weight: 3, arbitrary: fc.constantFrom(SPDY, WEBSOCKET) },
  { weight: 2, arbitrary: fc.subarray([...SPDY.slice(1), ...WEBSOCKET, 'Upgrade: h2c']) },
);
/** Headers that any client may send. */
const FAIR = [
  'Connection: close',
  'Expect: 100-continue',
  'Authorization: Bearer x',
  'Range: bytes=-1',
  'Accept-Encoding: gzip',
  'Content-Type: application/json',
  'Content-Type: x',
];
/** These are refused as a rule, and with them what follows. */
const FOUL = [
  'Content-Length: 99999999999999999999',
  'Content-Length: -1',
  'Transfer-Encoding: gzip, chunked',
  'Expect: nothing',
  'Host: ',
  'Host: a\x00b',
  ': x',
  'X',
  `Cookie: ${'a'.repeat(20_000)}`,
];
const KEYS = ['command', 'input', 'output', 'stdin', 'stderr', 'tty', 'port', 'cmd', 'x', '__proto__', 'command[]'];
/** What the streams ask for, more or less, or anything. */
const query: fc.Arbitrary<[key: string, value: string][]> = fc.oneof(
  fc.subarray<[key: string, value: string]>([
    ...(['command', 'cmd'] as const).map((key): [string, string] => [key, 'ls']),
    ...(['input', 'output', 'error', 'tty'] as const).map((key): [string, string] => [key, '1']),
    ['port', '80'],
  ]),
  fc.array(fc.tuple(fc.constantFrom(...KEYS), nastyText), { maxLength: 4 }),
);
const CHUNKED = '5\r\nhello\r\n0\r\n\r\n';
/** Headers that say how long the body is, and the body: most often they fit. */
const framed: fc.Arbitrary<[headers: string[], body: string]> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<[string[], string]>([[], '']) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<[string[], string]>(
      [['Content-Length: 0'], ''],
      [['Content-Length: 5'], 'hello'],
      [['Transfer-Encoding: chunked'], CHUNKED],
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(
      fc.subarray(['Content-Length: 0', 'Content-Length: 5', 'Transfer-Encoding: chunked']),
      fc.constantFrom(
        '',
        'hello',
        CHUNKED,
        'ffffffffffffffff\r\n',
        '-1\r\n\r\n',
        '5\r\nhel',
        'GET /pods HTTP/1.1\r\nHost: b\r\n\r\n',
        '{"a":',
        '\r\n\r\n',
      ),
    ),
  },
);
const request = fc
  .record({
    method: METHODS,
    path: PATHS,
    query,
    raw: fc.nat(4).map((n) => n === 0),
    version: fc.oneof(
      { weight: 12, arbitrary: fc.constant('HTTP/1.1') },
      { weight: 1, arbitrary: fc.constantFrom('HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', '') },
    ),
    upgrade,
    framed,
    fair: fc.subarray(FAIR, { maxLength: 3 }),
    foul: fc.oneof(
      { weight: 11, arbitrary: fc.constant('X-Y: z') },
      { weight: 1, arbitrary: fc.constantFrom(...FOUL) },
    ),
    changes: fc.oneof(
      { weight: 5, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: byteChanges(['HTTP/1.1', '\r\n\r\n', 'chunked']) },
    ),
  })
  .map(({ method, path, query, raw, version, upgrade, framed: [framing, body], fair, foul, changes }) => {
    const pairs = query.map(
      ([key, value]) => `${key}=${raw ? value.replace(/[\r\n ]/g, '') : encodeURIComponent(value.toWellFormed())}`,
    );
    const headers = ['Host: node', ...upgrade, ...framing, ...fair, foul];
    const text = `${method} ${path}${pairs.length > 0 ? `?${pairs.join('&')}` : ''} ${version}\r\n${headers.join('\r\n')}\r\n\r\n${body}`;
    return changes === null ? Buffer.from(text) : changedBytes(Buffer.from(text), changes);
  });
const conversation = fc.tuple(fc.array(request, { minLength: 1, maxLength: 3, size: 'xsmall' }), fc.nat(400));

/** The server still answers others as before. */
async function alive(): Promise<void> {
  assert.match(
    await talk(
      agent.server.port,
      [Buffer.from('GET /healthz HTTP/1.1\r\nHost: n\r\nConnection: close\r\n\r\n')],
      10_000,
    ),
    /^HTTP\/1\.1 200/,
  );
  assert.deepEqual(faults, []);
}

test('HTTP: whatever is asked, in whatever pieces, others are answered', async () => {
  let seen = 0;
  const statuses = new Set<string>();
  await fc.assert(
    fc.asyncProperty(conversation, async ([requests, cut]) => {
      const all = Buffer.concat(requests);
      const pieces = [all.subarray(0, cut), all.subarray(cut)];
      const answers = await Promise.all([talk(agent.server.port, pieces), talk(app.port, pieces)]);
      for (const answer of answers) {
        const status = /^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1];
        assert.ok(answer === '' || status !== undefined, answer.slice(0, 200));
        statuses.add(status ?? '');
        // Nothing of our own code is shown to those who ask.
        assert.doesNotMatch(answer, /\.ts:\d+|node_modules|TypeError|is not a function/);
        // Kubelet's own answer to a stream that asks for no upgrade.
        assert.doesNotMatch(answer.replaceAll(NO_UPGRADE, ''), /^HTTP\/1\.1 500 /m);
      }
      if (seen++ % 20 === 0) await alive();
    }),
    fuzz(250),
  );
  await alive();
  // Or nothing came past the parser: one request in a hundred did when half of all headers were foul.
  for (const status of ['101', '200', '400', '404', '405', '500'])
    assert.ok(statuses.has(status), `no answer was ${status}: ${[...statuses].join()}`);
});

test('HTTP: nothing of it is kept', async () => {
  const all = fc.sample(conversation, { numRuns: 60, seed: 3 });
  const round = async (): Promise<void> => {
    await Promise.all(all.map(([requests]) => talk(app.port, requests)));
    await Promise.all(all.map(([requests]) => talk(agent.server.port, requests)));
  };
  await round();
  await round();
  const before = heldBytes();
  for (let i = 0; i < 4; i++) await round();
  await until(() => app.routes.open + app.sockets.size + runtime.sockets.size === 0, 'all connections to close');
  const grown = heldBytes() - before;
  assert.ok(grown < 6_000_000, `${String(grown)} bytes`);
  await alive();
});

test('HTTP: an upgrade that is sent along with a request that is not answered yet', async () => {
  // Any client, without credentials, could end the agent so: ERR_HTTP_SOCKET_ASSIGNED, thrown in the server's event.
  const slow = `POST /run/ns/web/app?cmd=x HTTP/1.1\r\nHost: n\r\nContent-Length: 0\r\n\r\n`;
  const upgrade = `POST /exec/ns/web/app?output=1&command=x HTTP/1.1\r\nHost: n\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n`;
  const answer = await talk(app.port, [Buffer.from(slow + upgrade)], 25, 'HTTP/1.1 200 OK');
  assert.match(answer, /^HTTP\/1\.1 200 OK/);
  assert.doesNotMatch(answer, /101/);
  await alive();
});
