import http2 from 'node:http2';
import { H2Body } from './h2-body.ts';
import { TransportError } from './transport.ts';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Identity } from './credentials.ts';
import type { HttpAnswer, HttpRequest } from './transport.ts';

/** When a silent connection is asked for a sign of life, and how long that may take (client-go: 30 s and 15 s). */
export interface HealthCheck {
  idleMs: number;
  ackMs: number;
}

const windowBytes = 1 << 20;

/** One HTTP/2 connection. */
export class H2Session {
  readonly identity: Identity;
  /** False when new requests must take another connection: closed, broken, GOAWAY, or drained by us. */
  usable = true;
  private readonly session: ClientHttp2Session;
  private readonly socket: TLSSocket;
  private readonly health: HealthCheck;
  private readonly timer: NodeJS.Timeout;
  private streams = 0;
  private sent = 0;
  private bytes = 0;
  private pinging = false;

  constructor(socket: TLSSocket, authority: string, identity: Identity, health: HealthCheck) {
    this.identity = identity;
    this.socket = socket;
    this.health = health;
    this.session = http2.connect(authority, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: windowBytes },
    });
    this.session.on('connect', () => this.session.setLocalWindowSize(4 * windowBytes));
    this.session.on('error', () => (this.usable = false));
    this.session.on('goaway', () => this.drain());
    this.session.on('close', () => {
      this.usable = false;
      clearInterval(this.timer);
    });
    this.timer = setInterval(() => {
      if (socket.bytesRead === this.bytes) this.ping();
      this.bytes = socket.bytesRead;
    }, health.idleMs).unref();
  }

  /** True when the server takes one more stream at once. */
  get room(): boolean {
    return this.streams < (this.session.remoteSettings.maxConcurrentStreams ?? 100);
  }

  /** Sends a request; resolves with the head of the answer. */
  send(request: HttpRequest): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const kept = this.sent++ > 0;
      let stream: ClientHttp2Stream;
      try {
        const headers = { ':method': request.method, ':path': request.path, ...request.headers };
        stream = this.session.request(headers, { endStream: request.body === undefined });
      } catch (error) {
        this.usable = false;
        reject(new TransportError(error, true, true));
        return;
      }
      this.streams++;
      const onAbort = (): void => void stream.close(http2.constants.NGHTTP2_CANCEL);
      request.signal.addEventListener('abort', onAbort, { once: true });
      const body = new H2Body(stream);
      let failure: unknown;
      stream.on('error', (error) => (failure = error));
      stream.once('response', (headers) => resolve(answerOf(headers, stream, body)));
      stream.once('close', () => {
        this.streams--;
        request.signal.removeEventListener('abort', onAbort);
        const refused = stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM || isGoaway(failure);
        reject(new TransportError(failure ?? new Error('the connection was closed'), refused, kept || refused));
      });
      if (request.signal.aborted) onAbort();
      if (request.body !== undefined) stream.end(request.body);
    });
  }

  /** Takes no new requests; streams that are open go on, then the connection is closed. */
  drain(): void {
    this.usable = false;
    if (!this.session.closed) this.session.close();
  }

  /** Asks for a sign of life; without one the connection is broken off, so that its streams fail and are made anew. */
  ping(): void {
    if (this.pinging || this.session.destroyed) return;
    this.pinging = true;
    const timer = setTimeout(() => this.destroy(), this.health.ackMs).unref();
    const done = (): void => {
      clearTimeout(timer);
      this.pinging = false;
    };
    try {
      if (!this.session.ping(done)) done();
    } catch {
      done();
    }
  }

  destroy(): void {
    this.usable = false;
    this.session.destroy(new Error('the connection was given up'), http2.constants.NGHTTP2_CANCEL);
    this.socket.destroy();
  }
}

function answerOf(
  headers: IncomingHttpHeaders & { ':status'?: number },
  stream: ClientHttp2Stream,
  body: H2Body,
): HttpAnswer {
  return { status: headers[':status'] ?? 0, headers, body, whole: () => stream.rstCode === 0 };
}

function isGoaway(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === 'ERR_HTTP2_GOAWAY_SESSION';
}
