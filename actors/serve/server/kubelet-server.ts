import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { Server, ServerOptions } from 'node:https';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import { createHttpApp, HTTP_LIMITS, routeUpgrades } from './http-app.ts';
import { countRequests } from './http-metrics.ts';
import { listen } from './http-listener.ts';
import type { ListenOptions, RunningServer } from './http-listener.ts';

/** How long a client has for the TLS handshake, ms; one that never ends it must not hold a connection for ever. */
const HANDSHAKE_MS = 10_000;

/** Certificates of a server, and how it gets new ones while it runs. */
export interface ServerTls {
  /**
   * Certificate, key, versions and ciphers; whether a client's certificate is asked for, which authentication looks at:
   * the handshake refuses none.
   */
  serverOptions(): ServerOptions;
  /** Keeps the server's certificates up to date. */
  attach(server: Server): void;
}

/** What the kubelet server is made from. */
export interface KubeletServerOptions extends ListenOptions {
  tls: ServerTls;
  /** Its paths as patterns of Go's ServeMux. */
  patterns: readonly string[];
  /** Who may ask: answers the request itself (401, 403, 500) when it may not go on. */
  authHook: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
  metrics: Metrics;
  addRoutes: (app: FastifyInstance) => void;
}

/**
 * The server of `port` (10250): all pages of the node over TLS, each request authenticated and authorized first.
 * @throws ActorletError SRV001 when the port cannot be had
 */
export async function startKubeletServer(options: KubeletServerOptions): Promise<RunningServer> {
  const { tls, log } = options;
  let server: Server | undefined;
  const makeServer = (handler: RequestListener): Server => {
    const made = createServer(
      {
        ...HTTP_LIMITS,
        handshakeTimeout: HANDSHAKE_MS,
        ...tls.serverOptions(),
      },
      handler,
    );
    server = made;
    return made;
  };
  const app = createHttpApp(log, options.patterns, makeServer, (made) =>
    countRequests(made, options.metrics, 'readwrite'),
  );
  app.addHook('onRequest', options.authHook);
  options.addRoutes(app);
  if (server === undefined) throw new TypeError('fastify made no server');
  tls.attach(server);
  routeUpgrades(app, server);
  cutBadClients(server);
  return listen(app, options, 'kubelet', 'port');
}

/** A handshake that fails, or bytes that are no HTTP, end that connection and nothing else. */
function cutBadClients(server: Server): void {
  server.on('tlsClientError', (_error, socket) => socket.destroy());
}
