import fastify from 'fastify';
import type { Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { pino } from 'pino';
import { routeUpgrades } from '../../../../actors/serve/server/http-app.ts';
import { addStreamingRoutes } from '../../../../actors/serve/streaming/streaming-routes.ts';
import type { StreamingRoutes, StreamingRoutesOptions } from '../../../../actors/serve/streaming/streaming-routes.ts';

/** A server with the streaming routes only. */
export interface StreamingApp {
  port: number;
  routes: StreamingRoutes;
  /** Sockets of clients that are open now. */
  sockets: ReadonlySet<Socket>;
  close(): Promise<void>;
}

/** Starts one on a free port of 127.0.0.1, with upgrades wired as the kubelet server does it. */
export async function startStreamingApp(
  options: Omit<StreamingRoutesOptions, 'log' | 'config'> & { idleMs?: number },
  tls?: { key: string; cert: string },
): Promise<StreamingApp> {
  const { idleMs = 0, ...rest } = options;
  const app = fastify({
    logger: false,
    serverFactory: (handler) =>
      tls === undefined ? createServer(handler) : (createTlsServer({ ...tls }, handler) as Server),
  });
  routeUpgrades(app, app.server);
  const sockets = new Set<Socket>();
  app.server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const log = pino({ level: process.env['TEST_LOG'] ?? 'silent' });
  const routes = addStreamingRoutes(app, { ...rest, config: { streamingConnectionIdleTimeout: idleMs }, log });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { port: (app.server.address() as AddressInfo).port, routes, sockets, close: () => app.close() };
}
