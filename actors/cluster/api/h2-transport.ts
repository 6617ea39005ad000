import { unlessAborted } from '../../host/time/unless-aborted.ts';
import { H2Session } from './h2-session.ts';
import { connectTls, tlsOptions } from './tls-connect.ts';
import { TransportError } from './transport.ts';
import type { Identity } from './credentials.ts';
import type { HealthCheck } from './h2-session.ts';
import type { Kubeconfig } from './kubeconfig.ts';
import type { HttpAnswer, HttpRequest, Transport } from './transport.ts';

/** Shortest time between two attempts to connect, so that a server that refuses is not flooded. */
const connectEveryMs = 100;

/** Thrown by {@link H2Transport.send} when the server does not offer HTTP/2. */
export class NoHttp2 extends Error {}

/**
 * HTTP/2 over TLS: one connection for requests and watches, a further one only when the server's limit of streams is
 * reached, when it says GOAWAY, or when the client certificate has changed.
 */
export class H2Transport implements Transport {
  private readonly kubeconfig: Kubeconfig;
  private readonly health: HealthCheck;
  private sessions: H2Session[] = [];
  private connecting: Promise<H2Session> | undefined;
  private attemptAt = -Infinity;
  private closed = false;

  constructor(kubeconfig: Kubeconfig, health: HealthCheck) {
    this.kubeconfig = kubeconfig;
    this.health = health;
  }

  async send(request: HttpRequest): Promise<HttpAnswer> {
    const session = await this.session(request.identity, request.signal);
    return session.send(request);
  }

  /** Asks all connections for a sign of life, after a request that got no answer in time. */
  check(): void {
    for (const session of this.sessions) session.ping();
  }

  close(): void {
    this.closed = true;
    for (const session of this.sessions) session.destroy();
    this.sessions = [];
  }

  private async session(identity: Identity, signal: AbortSignal): Promise<H2Session> {
    for (;;) {
      if (this.closed) throw new TransportError(new Error('the client was closed'), true, false);
      const found = this.find(identity);
      if (found !== undefined) return found;
      this.connecting ??= this.connect(identity).finally(() => (this.connecting = undefined));
      await unlessAborted(this.connecting, signal, () => new TransportError(signal.reason, true, false));
    }
  }

  private find(identity: Identity): H2Session | undefined {
    let found: H2Session | undefined;
    let stale = false;
    for (const session of this.sessions) {
      if (session.usable && !sameCertificate(session.identity, identity)) session.drain();
      if (!session.usable) stale = true;
      else if (found === undefined && session.room) found = session;
    }
    if (stale) this.sessions = this.sessions.filter((session) => session.usable);
    return found;
  }

  private async connect(identity: Identity): Promise<H2Session> {
    const wait = this.attemptAt + connectEveryMs - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    this.attemptAt = performance.now();
    let socket;
    try {
      socket = await connectTls({
        ...tlsOptions(this.kubeconfig, identity),
        ALPNProtocols: ['h2', 'http/1.1'],
      });
    } catch (error) {
      throw new TransportError(error, true, false);
    }
    if (socket.alpnProtocol !== 'h2') {
      socket.destroy();
      throw new NoHttp2();
    }
    const { server } = this.kubeconfig;
    const session = new H2Session(socket, server.origin, identity, this.health);
    if (this.closed) session.destroy();
    else this.sessions.push(session);
    return session;
  }
}

function sameCertificate(a: Identity, b: Identity): boolean {
  return a.cert === b.cert && a.key === b.key;
}
