import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** What a runtime's streaming server does with one stream; `plain` takes the request as a plain one. */
export type OnUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** A stand-in for the streaming server of a container runtime. */
export interface FakeStreamingServer {
  /** `http://127.0.0.1:PORT` */
  url: string;
  /** Sockets that are open now. */
  sockets: ReadonlySet<Socket>;
  close(): Promise<void>;
}

/** Starts one on a free port; with a key it speaks TLS. `refuse` answers each request as if it asked for no upgrade. */
export async function startFakeStreamingServer(
  serve: OnUpgrade | { refuse: RequestListener },
  tls?: { key: string; cert: string },
): Promise<FakeStreamingServer> {
  const server = tls === undefined ? createServer() : createTlsServer({ ...tls });
  if (typeof serve !== 'function') server.on('request', serve.refuse);
  else {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => undefined);
      serve(request, socket, head);
    });
  }
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${String(port)}`,
    sockets,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Head of the answer with which a stream begins. */
export const SWITCHING =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\nX-Runtime: Fake\r\n\r\n';
