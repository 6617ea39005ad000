import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { SpdyConnection } from '../../serve/spdy/spdy-connection.ts';
import { isWebSocket } from '../../serve/streaming/protocols.ts';
import type { AgreedStream } from './agreed-stream.ts';
import { channelProtocol, serveOverWebSocket } from './websocket-streams.ts';
import type { SpdyStream } from '../../serve/spdy/spdy-stream.ts';

/** What a command gave. */
export interface CommandEnd {
  exitCode: number;
  stdout: Uint8Array;
  stderr: Uint8Array;
}

const REMOTE_COMMAND = 'v4.channel.k8s.io';
const PORT_FORWARD = 'portforward.k8s.io';
/** How long an address that was given is good for, ms: as containerd's. */
const GOOD_FOR_MS = 60_000;

/**
 * The streaming server of all simulated runtimes of the process, on an address of this machine alone: what `Exec`, `Attach` and
 * `PortForward` give leads here, with a secret that is good once. Clients speak SPDY/3.1 or, for commands, a WebSocket, as with real
 * runtimes.
 */
export class StreamServer {
  private readonly server = createServer((_request, response) => response.writeHead(404).end());
  private readonly agreed = new Map<string, AgreedStream>();
  private readonly open = new Set<SpdyConnection>();
  private port = 0;

  /** Listens. */
  async start(): Promise<void> {
    this.server.on('upgrade', (request, socket, head) => this.upgrade(request, socket, head));
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(0, '127.0.0.1', resolve);
    });
    this.port = (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    for (const connection of this.open) connection.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  /** Where the stream is to be had. */
  offer(stream: AgreedStream): { url: string } {
    const token = randomBytes(16).toString('hex');
    this.agreed.set(token, stream);
    setTimeout(() => this.agreed.delete(token), GOOD_FOR_MS).unref();
    return { url: `http://127.0.0.1:${this.port}/${token}` };
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const token = (request.url ?? '').split('?', 1)[0]?.slice(1) ?? '';
    const stream = this.agreed.get(token);
    this.agreed.delete(token);
    const wanted = stream?.kinds === null ? PORT_FORWARD : REMOTE_COMMAND;
    if (stream === undefined) return refuse(socket, '404 Not Found', 'no such stream');
    const client = { request, socket, head };
    const channels = stream.kinds === null || !isWebSocket(request.headers) ? undefined : channelProtocol(client);
    if (channels !== undefined) return void serveOverWebSocket(client, channels, stream).catch(() => socket.destroy());
    if (!offered(request).includes(wanted))
      return refuse(socket, '403 Forbidden', `unable to negotiate protocol: ${wanted}`);
    const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: SPDY/3.1'];
    socket.write(`${lines.join('\r\n')}\r\nX-Stream-Protocol-Version: ${wanted}\r\n\r\n`);
    this.serve(stream, socket, head);
  }

  private serve({ kinds, serve }: AgreedStream, socket: Duplex, head: Buffer): void {
    const streams = new Map<string, SpdyStream>();
    const served = (work: Promise<void>): void => void work.catch(() => undefined).finally(() => connection.close());
    const connection: SpdyConnection = new SpdyConnection(socket, {
      ...{ role: 'server', head },
      onStream: (stream) => {
        const kind = stream.headers.get('streamtype') ?? '';
        if (kinds === null) {
          return void serve(new Map([[kind, stream]]), connection.closed).catch(() => stream.destroy());
        }
        // Input goes nowhere, and the size of the terminal to nobody; both must be read.
        if (kind === 'stdin' || kind === 'resize') stream.resume();
        streams.set(kind, stream);
        if (streams.size === kinds.length) served(serve(streams, connection.closed));
      },
    });
    this.open.add(connection);
    void connection.closed.then(() => this.open.delete(connection));
  }
}

/** A command: its output, then how it ended, as remotecommand's version 4 says it. */
export async function serveCommand(
  streams: ReadonlyMap<string, Duplex>,
  run: () => Promise<CommandEnd>,
): Promise<void> {
  const { exitCode, stdout, stderr } = await run();
  await Promise.all([sent(streams.get('stdout'), stdout), sent(streams.get('stderr'), stderr)]);
  await sent(streams.get('error'), Buffer.from(JSON.stringify(statusOf(exitCode))));
}

/** What is sent to a port comes back. */
export function echo(streams: ReadonlyMap<string, Duplex>): Promise<void> {
  streams.get('error')?.resume().end();
  const data = streams.get('data');
  data?.pipe(data);
  return Promise.resolve();
}

function statusOf(exitCode: number): object {
  if (exitCode === 0) return { metadata: {}, status: 'Success' };
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}

/** Sends the last of a stream; resolves also when nobody takes it. */
export function sent(stream: Duplex | undefined, bytes: Uint8Array): Promise<void> {
  if (stream === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    stream.end(Buffer.from(bytes), () => resolve());
    stream.once('close', resolve);
  });
}

function offered(request: IncomingMessage): string[] {
  const { rawHeaders } = request;
  return rawHeaders
    .filter((_value, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === 'x-stream-protocol-version')
    .flatMap((value) => value.split(',').map((each) => each.trim()));
}

function refuse(socket: Duplex, status: string, text: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
}
