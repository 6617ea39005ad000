import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { ActorletError } from '../../machines/errors/define.ts';
import { serverErrors } from '../../machines/errors/server-errors.ts';

/** Where a server listens. */
export interface ListenOptions {
  /** IP address, as `healthzBindAddress` or `address` of the configuration. */
  address: string;
  /** 0 picks a free port: "off" is the caller's business. */
  port: number;
  log: Logger;
}

/** A server that listens. */
export interface RunningServer {
  /** Base address without a slash at the end, e.g. `http://127.0.0.1:10255`. */
  readonly url: string;
  readonly port: number;
  /** Stops listening, lets running answers end for at most `CLOSE_GRACE_MS`, then cuts them off. */
  close(): Promise<void>;
}

const CLOSE_GRACE_MS = 2_000;

/** A bare HTTP server with limits that suit small GET pages, and Go's answers to what it does not know. */
export function createHttpApp(log: Logger): FastifyInstance {
  const app = fastify({
    // No logger of its own: it would write a line for each probe of a monitoring system.
    logger: false,
    bodyLimit: 1024,
    // A client has this long to send its request; Go's server of the kubelet waits without limit.
    requestTimeout: 10_000,
    keepAliveTimeout: 90_000,
    maxRequestsPerSocket: 0,
    http: { maxHeaderSize: 32 * 1024, headersTimeout: 10_000 },
    forceCloseConnections: 'idle',
    routerOptions: { ignoreTrailingSlash: false, caseSensitive: true },
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '/';
    reply.header('x-content-type-options', 'nosniff').type('text/plain; charset=utf-8');
    if (app.hasRoute({ method: 'GET', url: path })) return reply.code(405).send('405: Method Not Allowed');
    return reply.code(404).send('404 page not found\n');
  });
  app.setErrorHandler((error, request, reply) => {
    const known = error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number';
    const status = known && typeof error.statusCode === 'number' ? error.statusCode : 500;
    if (status >= 500) log.error({ err: error, path: request.url }, 'HTTP request failed');
    const text = error instanceof Error ? error.message : String(error);
    return reply
      .code(status)
      .header('x-content-type-options', 'nosniff')
      .type('text/plain; charset=utf-8')
      .send(status >= 500 ? `internal server error: ${text}\n` : `${text}\n`);
  });
  return app;
}

/**
 * Starts to listen.
 * @param server word for messages: `healthz`, `read-only`
 * @param field configuration field of the port, for the cure
 * @throws ActorletError SRV001 when the port cannot be had
 */
export async function listen(
  app: FastifyInstance,
  { address, port, log }: ListenOptions,
  server: string,
  field: string,
): Promise<RunningServer> {
  try {
    await app.listen({ host: address, port });
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    await app.close();
    throw new ActorletError(serverErrors.cannotListen, { server, address, port, reason, field }, { cause });
  }
  const bound = app.server.address();
  const boundPort = typeof bound === 'object' && bound !== null ? bound.port : port;
  const url = `http://${address.includes(':') ? `[${address}]` : address}:${boundPort}`;
  log.info({ url }, `Starting to listen: ${server}`);
  return {
    url,
    port: boundPort,
    async close() {
      const cut = setTimeout(() => {
        app.server.closeAllConnections();
      }, CLOSE_GRACE_MS);
      try {
        await app.close();
      } finally {
        clearTimeout(cut);
      }
    },
  };
}
