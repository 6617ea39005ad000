import type { IncomingMessage, RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { SpdyConnection } from '../../../../actors/serve/spdy/spdy-connection.ts';
import type { SpdyStream } from '../../../../actors/serve/spdy/spdy-stream.ts';
import { startFakeStreamingServer } from '../../streaming/support/fake-streaming-server.ts';
import type { FakeStreamingServer } from '../../streaming/support/fake-streaming-server.ts';

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

/** The streaming server of a runtime that speaks SPDY/3.1; `url` is that of one session. */
export interface FakeSpdyRuntime extends Omit<FakeStreamingServer, 'url'> {
  url: URL;
}

/**
 * Starts a server that upgrades to SPDY/3.1 and plays `play` on it.
 * @param refuse answers an upgrade request itself, without upgrading
 */
export async function startFakeSpdyRuntime(
  play: (session: FakeSession) => void,
  refuse?: RequestListener,
): Promise<FakeSpdyRuntime> {
  const upgrade = (request: IncomingMessage, socket: Socket, head: Buffer): void => {
    const protocol = request.headers['x-stream-protocol-version'];
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n' +
        `X-Stream-Protocol-Version: ${String(protocol)}\r\n\r\n`,
    );
    const streams = new Map<string, SpdyStream>();
    const waiting = new Map<string, (stream: SpdyStream) => void>();
    const opened: string[] = [];
    const onStream = (stream: SpdyStream): void => {
      const type = stream.headers.get('streamtype') ?? '';
      opened.push(type);
      streams.set(type, stream);
      waiting.get(type)?.(stream);
    };
    play({
      connection: new SpdyConnection(socket, { role: 'server', head, onStream }),
      socket,
      request,
      opened,
      stream: (type) => {
        const stream = streams.get(type);
        return stream === undefined ? new Promise((resolve) => waiting.set(type, resolve)) : Promise.resolve(stream);
      },
    });
  };
  const server = await startFakeStreamingServer(
    refuse === undefined ? (request, socket, head) => upgrade(request, socket as Socket, head) : { refuse },
  );
  return { ...server, url: new URL('/exec/token', server.url) };
}
