import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyPair } from '../../bin/control-plane/pki.ts';

/** Longest answer of a probe that its event tells of is far below, bytes. */
const LONG = 'x'.repeat(20_000);

/** What a path answers. */
const ANSWERS: Record<string, (response: ServerResponse) => unknown> = {
  '/ok': (response) => response.end('fine'),
  '/fails': (response) => response.writeHead(500).end('not fine\nat all'),
  '/long': (response) => response.writeHead(503).end(LONG),
  '/moved': (response) => response.writeHead(302, { location: '/ok' }).end(),
  '/away': (response) => response.writeHead(302, { location: 'http://elsewhere.example/ok' }).end(),
  '/loop': (response) => response.writeHead(302, { location: '/loop' }).end(),
  '/slow': (response) => sleep(2_500).then(() => response.end('late')),
  '/torn': (response) => response.destroy(),
};

/** What network probes and hooks of one side's pods go to: it answers by the path, and keeps what it was asked. */
export class ProbedServer {
  /** The headers that requests for a path came with, one text for each kind of request. */
  readonly asked = new Map<string, Set<string>>();
  readonly #plain: Server;
  readonly #tls: Server;

  private constructor(tls: { key: Buffer; cert: Buffer }) {
    const answer = (request: IncomingMessage, response: ServerResponse) => this.#answer(request, response);
    this.#plain = createServer(answer);
    this.#tls = createTlsServer(tls, answer);
  }

  /** Starts both servers on 127.0.0.1. The caller stops them. */
  static async start({ cert, key }: KeyPair): Promise<ProbedServer> {
    const server = new ProbedServer({ key: await readFile(key), cert: await readFile(cert) });
    for (const one of [server.#plain, server.#tls])
      await new Promise<void>((resolve, reject) => {
        one.once('error', reject).listen(0, '127.0.0.1', resolve);
      });
    return server;
  }

  get port(): number {
    return (this.#plain.address() as AddressInfo).port;
  }

  get tlsPort(): number {
    return (this.#tls.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    for (const one of [this.#plain, this.#tls]) {
      one.closeAllConnections();
      await new Promise((resolve) => one.close(resolve));
    }
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url = '', headers } = request;
    const told = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
    const kinds = this.asked.get(url) ?? new Set();
    this.asked.set(url, kinds.add([method, ...told.sort()].join('\n')));
    (ANSWERS[url.replace(/\?.*/, '')] ?? (() => response.writeHead(404).end('nothing here')))(response);
  }
}
