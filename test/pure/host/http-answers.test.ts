import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TLSSocket, createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { pino } from 'pino';
import type { HostSettings } from '../../../actors/host/files/host-settings.ts';
import { netEffects } from '../../../actors/pods/prober/net-effects.ts';
import { verdictOf } from '../../../machines/probe/probe-verdict.ts';
import { PATIENCE_MS } from '../../tools/wait-for.ts';

/** What the server does next; each character of `send` is a byte. See test/tools/http-answers. */
interface Step {
  send?: string;
  times?: number;
  pause?: number;
  forever?: boolean;
  end?: 'close' | 'reset';
}

interface Vector {
  name: string;
  scheme?: 'https';
  host?: string;
  path?: string;
  headers?: { name: string; value: string }[];
  tls?: boolean;
  unread?: boolean;
  connections: (Step[] | null)[];
  result: 'success' | 'warning' | 'failure' | 'error' | '';
  text: string;
  when: 'at once' | 'timeout' | 'hangs';
  hook: 'ok' | 'failed' | 'hangs';
  requests?: string[];
}

/** What a probe has that is to time out. A busy machine may need more to come as far as the answer goes: it is given more, then. */
const SHORT_MS = [500, 5000, 60_000];

const vectors = JSON.parse(
  readFileSync(new URL('kubelet-http-answer-vectors.json', import.meta.url), 'utf8'),
) as Vector[];
const settings: HostSettings = {
  rootDir: '/nowhere',
  podLogsDir: '/nowhere',
  containerLogsDir: '/nowhere',
  cgroupVersion: 1,
  cgroupDriver: 'cgroupfs',
  log: pino({ level: 'silent' }),
};

const folder = mkdtempSync(join(tmpdir(), 'http-answers-'));
after(() => rmSync(folder, { recursive: true }));
const secureContext = createCertificate();
function createCertificate(): SecureContext {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  execFileSync('openssl', ['req', '-x509', ...ec, '-nodes', '-subj', '/CN=a', '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  return createSecureContext({ key: readFileSync(key), cert: readFileSync(cert) });
}

test('kubelet says the same of every recorded answer', { timeout: PATIENCE_MS }, async () => {
  assert.ok(vectors.length > 250);
  const wrong: string[] = [];
  const left = [...vectors];
  // A few at a time: most of those that time out wait together.
  const worker = async () => {
    for (let vector = left.shift(); vector; vector = left.shift()) {
      let fault: string | undefined;
      for (const timeoutMs of vector.when === 'at once' ? [PATIENCE_MS] : SHORT_MS) {
        fault = await check(vector, timeoutMs).then(
          () => undefined,
          (error: Error) => error.message,
        );
        if (fault === undefined) break;
      }
      if (fault !== undefined) wrong.push(`${vector.name}: ${fault}`);
    }
  };
  await Promise.all(Array.from({ length: 12 }, worker));
  assert.deepEqual(wrong, []);
});

async function check(vector: Vector, timeoutMs: number): Promise<void> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    const steps = vector.connections[Math.min(sockets.size, vector.connections.length) - 1];
    void answer(vector, socket, steps ?? [], requests).catch(() => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = portOf(server);
  try {
    const params = {
      scheme: vector.scheme ?? 'http',
      host: vector.host ?? '127.0.0.1',
      port,
      path: vector.path ?? '/',
      headers: vector.headers ?? [],
      timeoutMs,
    } as const;
    const outcome = await netEffects['net.HttpGet'](params, settings).then(
      (result) => ({ type: 'effect.done', at: 0, effect: 'net.HttpGet', key: '', result }) as const,
      (error: Error & { code: string }) =>
        ({
          type: 'effect.failed',
          at: 0,
          effect: 'net.HttpGet',
          key: '',
          error: { code: error.code, message: error.message },
        }) as const,
    );
    const plain = (text: string) => text.replaceAll(String(port), 'PORT!').replaceAll(/127\.0\.0\.1:\d+->/g, 'OWN!->');
    // Kubelet's own prober hangs for ever on some; ours must say something, and be over.
    if (vector.when !== 'hangs') {
      const verdict = verdictOf(outcome, { probe: {}, container: { name: 'c' }, settings: { behaviour: [] } });
      const result = verdict.warning ? 'warning' : verdict.outcome === 'unknown' ? 'error' : verdict.outcome;
      assert.deepEqual([result, plain(verdict.text)], [vector.result, vector.text]);
      assert.deepEqual(requests.map(plain), vector.requests ?? []);
    }
    if (vector.hook !== 'hangs')
      assert.equal(outcome.type === 'effect.done' ? 'ok' : 'failed', vector.hook, `hook: ${JSON.stringify(outcome)}`);
  } finally {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
}

async function answer(vector: Vector, tcp: Socket, steps: readonly Step[], requests: string[]): Promise<void> {
  const socket = vector.tls ? new TLSSocket(tcp, { isServer: true, secureContext }).on('error', () => undefined) : tcp;
  const port = String(tcp.localPort);
  if (!vector.unread) requests.push(await request(socket));
  socket.on('data', () => undefined).on('end', () => tcp.destroy());
  for (const { send = '', times = 1, pause = 0, forever = false, end } of steps) {
    const bytes = Buffer.from(send.repeat(times).replaceAll('PORT!', port), 'latin1');
    do {
      if (bytes.length > 0) await written(socket, bytes);
      if (pause > 0) await sleep(pause);
    } while (forever && !tcp.destroyed);
    if (end === 'close') socket.end();
    if (end === 'reset') tcp.resetAndDestroy();
  }
}

function written(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

/** Reads a request up to its empty line. */
function request(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const take = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (!text.endsWith('\r\n\r\n')) return;
      socket.off('data', take);
      resolve(text.slice(0, -2));
    };
    socket.on('data', take);
    socket.once('close', () => reject(new Error('closed')));
  });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
