import { createServer, request } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** One request that came by. */
export interface Passed {
  /** ms of `performance.now()`. */
  at: number;
  method: string;
  path: string;
}

/**
 * Stands before a registry on its own port: writes down who asks for what, and holds answers back, so that pulls take
 * as long as a test wants.
 */
export class RegistryGate {
  readonly passed: Passed[] = [];
  private readonly server: Server;
  private readonly upstream: number;
  private holding: RegExp | null = null;
  private waiting: { path: string; go: () => void }[] = [];

  constructor(upstream: number) {
    this.upstream = upstream;
    this.server = createServer((asked, answer) => void this.pass(asked, answer));
  }

  /** Listens on a port of 127.0.0.1: a free one, or the one it had before. */
  async open(port = 0): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, '127.0.0.1', resolve);
    });
    const address = this.server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** Nobody is let in any more: connections are refused. What is held is let go. */
  async close(): Promise<void> {
    this.release();
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  /** Holds requests whose path fits until {@link release}. */
  hold(path: RegExp): void {
    this.holding = path;
  }

  /** Paths that are held right now; those whose asker has gone are left out. */
  held(): string[] {
    return this.waiting.map(({ path }) => path);
  }

  /** Lets all go that is held, and holds no more; or lets only what fits go. */
  release(only?: RegExp): void {
    const go = this.waiting.filter(({ path }) => only === undefined || only.test(path));
    this.waiting = this.waiting.filter((entry) => !go.includes(entry));
    if (only === undefined) this.holding = null;
    for (const entry of go) entry.go();
  }

  private async pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method = '', url = '' } = asked;
    this.passed.push({ at: performance.now(), method, path: url });
    if (this.holding?.test(url) === true) {
      await new Promise<void>((go) => {
        const entry = { path: url, go };
        this.waiting.push(entry);
        answer.once('close', () => {
          this.waiting = this.waiting.filter((each) => each !== entry);
          go();
        });
      });
    }
    if (answer.destroyed) return;
    const { headers } = asked;
    const sent = request({ host: '127.0.0.1', port: this.upstream, method, path: url, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
    });
    sent.once('error', () => answer.destroy());
    asked.pipe(sent);
  }
}
