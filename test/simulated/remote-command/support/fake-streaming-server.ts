import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { SpdyConnection } from '../../../../actors/serve/spdy/spdy-connection.ts';
import type { SpdyStream } from '../../../../actors/serve/spdy/spdy-stream.ts';

/** One session at the fake runtime. */
export interface FakeSession {
  connection: SpdyConnection;
  socket: Socket;
  request: IncomingMessage;
  /** Waits for the stream of this type. */
  stream(type: string): Promise<SpdyStream>;
  /** Types of the streams in the order in which they were opened. */
  opened: string[];
}

/** Plays the streaming server of a runtime on a free port. */
export interface FakeStreamingServer {
  url: URL;
  /** Connections that are open. */
  sockets: Set<Socket>;
  close(): Promise<void>;
}

/**
 * Starts a server that upgrades to SPDY/3.1 and plays `play` on it.
 * @param refuse answers an upgrade request itself, without upgrading
 */
export async function startFakeStreamingServer(
  play: (session: FakeSession) => void,
  refuse?: (request: IncomingMessage, answer: ServerResponse) => void,
): Promise<FakeStreamingServer> {
  const sockets = new Set<Socket>();
  const server = createServer((request, answer) => refuse?.(request, answer));
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  if (refuse === undefined) {
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      const protocol = request.headers['x-stream-protocol-version'];
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n' +
          `X-Stream-Protocol-Version: ${String(protocol)}\r\n\r\n`,
      );
      const streams = new Map<string, SpdyStream>();
      const waiting = new Map<string, (stream: SpdyStream) => void>();
      const session: Omit<FakeSession, 'connection'> & { connection?: SpdyConnection } = {
        socket,
        request,
        opened: [],
        stream: (type) => {
          const stream = streams.get(type);
          return stream === undefined ? new Promise((resolve) => waiting.set(type, resolve)) : Promise.resolve(stream);
        },
      };
      const onStream = (stream: SpdyStream): void => {
        const type = stream.headers.get('streamtype') ?? '';
        session.opened.push(type);
        streams.set(type, stream);
        waiting.get(type)?.(stream);
      };
      play({ ...session, connection: new SpdyConnection(socket, { role: 'server', head, onStream }) });
    });
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/exec/token`),
    sockets,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
