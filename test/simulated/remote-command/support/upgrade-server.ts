import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import pino from 'pino';
import { WebSocket } from 'ws';
import type { UpgradeClient } from '../../../../actors/serve/remote-command/accept-websocket.ts';

/** Says nothing. */
export const silent = pino({ level: 'silent' });

/** A server whose upgrade requests go to `serve`, as the agent's server hands them to its routes. */
export interface UpgradeServer {
  /** `ws://127.0.0.1:PORT/` */
  url: string;
  /** What `serve` returned for each request so far. */
  served: Promise<void>[];
  /** The sockets of the clients that are connected. */
  sockets: Set<Socket>;
  close(): Promise<void>;
}

/** Starts a server on a free port. */
export async function startUpgradeServer(serve: (client: UpgradeClient) => Promise<void>): Promise<UpgradeServer> {
  const served: Promise<void>[] = [];
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (request, socket, head) => served.push(serve({ request, socket, head })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    served,
    sockets,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What a client got in one session. */
export class ClientSession {
  readonly ws: WebSocket;
  readonly closed: Promise<number>;
  /** Bytes by channel; a listener may take them instead. */
  readonly received = new Map<number, Buffer[]>();
  /** Called with each message, before it is kept; when it returns true, the message is not kept. */
  onMessage: (channel: number, data: Buffer) => boolean = () => false;

  constructor(url: string, protocol = 'v5.channel.k8s.io') {
    this.ws = new WebSocket(url, [protocol], { perMessageDeflate: false });
    this.ws.on('error', () => {});
    this.ws.on('message', (message: Buffer) => {
      const [channel = -1] = message;
      const data = message.subarray(1);
      if (this.onMessage(channel, data)) return;
      const parts = this.received.get(channel) ?? [];
      this.received.set(channel, [...parts, data]);
    });
    this.closed = new Promise((resolve) => this.ws.on('close', resolve));
  }

  /** Resolves when the handshake is answered; rejects with the status of another answer. */
  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.ws.once('open', () => resolve());
      this.ws.once('error', reject);
    });
  }

  /** Sends bytes on a channel; resolves when they have left. */
  send(channel: number, data: string | Buffer): Promise<void> {
    const message = Buffer.concat([Buffer.from([channel]), Buffer.from(data)]);
    return new Promise((resolve) => this.ws.send(message, () => resolve()));
  }

  /** Half-closes a channel (v5). */
  closeChannel(channel: number): void {
    this.ws.send(Buffer.from([255, channel]));
  }

  /** All that came on a channel, as text. */
  text(channel: number): string {
    return Buffer.concat(this.received.get(channel) ?? []).toString('utf8');
  }

  /** The parsed status of the error channel. */
  status(): unknown {
    return JSON.parse(this.text(3));
  }
}
