import type { FastifyReply, FastifyRequest } from 'fastify';
import { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { WebSocketServer } from 'ws';
import { upgradeOf } from '../../serve/server/upgrade.ts';
import { answerError } from './answer-json.ts';

/** Clients say nothing that counts. */
const MAX_MESSAGE_BYTES = 16 * 1024;
const PING_MS = 30_000;

/**
 * The WebSockets of one kind. A client that takes nothing any more is cut off: what it does not take would pile up here.
 */
export class SocketGroup {
  private readonly server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  private readonly alive = new WeakMap<WebSocket, boolean>();
  private readonly pings: NodeJS.Timeout;

  constructor() {
    this.pings = setInterval(() => this.ping(), PING_MS).unref();
  }

  get size(): number {
    return this.server.clients.size;
  }

  get clients(): Iterable<WebSocket> {
    return this.server.clients;
  }

  /** Answers the handshake; a plain request gets 426. */
  accept(request: FastifyRequest, reply: FastifyReply, onOpen: (socket: WebSocket) => void): FastifyReply {
    const upgrade = upgradeOf(request.raw);
    if (upgrade === undefined) return answerError(reply.header('upgrade', 'websocket'), 426, 'this is a WebSocket');
    reply.hijack();
    const { socket, head } = upgrade;
    if (socket instanceof Socket && reply.raw.socket === socket) reply.raw.detachSocket(socket);
    this.server.handleUpgrade(request.raw, socket, head, (client) => {
      this.alive.set(client, true);
      client.on('pong', () => this.alive.set(client, true));
      client.on('error', () => client.terminate());
      onOpen(client);
    });
    return reply;
  }

  close(): void {
    clearInterval(this.pings);
    for (const client of this.server.clients) client.terminate();
    this.server.close();
  }

  private ping(): void {
    for (const client of this.server.clients) {
      if (this.alive.get(client) !== true) client.terminate();
      else {
        this.alive.set(client, false);
        client.ping();
      }
    }
  }
}
