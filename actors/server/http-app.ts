import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { createServer, ServerResponse } from 'node:http';
import { posix } from 'node:path';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { httpError, restfulError } from './go-answers.ts';
import { rememberUpgrade } from './upgrade.ts';

/** Where kubelet has plain Go handlers: these alone are served, while below a web service any path is a "service" error. */
const PLAIN_HANDLERS = new Set(['healthz', 'metrics', 'configz', 'flagz', 'statusz', 'debug', 'actorlet']);

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Limits of every server here: Go's, where kubelet sets none, but for a client that is slow with its head. */
export const HTTP_LIMITS = {
  // As Go's DefaultMaxHeaderBytes; a command of exec stands in the URL.
  maxHeaderSize: 1024 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 90_000,
} as const;

/** Makes the server that hands its requests to `handler`. */
export type MakeServer = (handler: RequestListener) => Server;

const plainServer: MakeServer = (handler) => createServer(HTTP_LIMITS, handler);

/** By app, the methods of each path of a web service. */
const methodsByApp = new WeakMap<FastifyInstance, Map<string, Set<string>>>();

/**
 * A bare HTTP server with limits that suit a node's pages, and Go's answers to what it does not know.
 * @param makeServer a plain HTTP server by default
 */
export function createHttpApp(log: Logger, makeServer: MakeServer = plainServer): FastifyInstance {
  const app = fastify({
    // No logger of its own: it would write a line for each probe of a monitoring system.
    logger: false,
    bodyLimit: 1024,
    exposeHeadRoutes: false,
    maxRequestsPerSocket: 0,
    forceCloseConnections: 'idle',
    routerOptions: { ignoreTrailingSlash: false, caseSensitive: true, maxParamLength: 1024 },
    serverFactory: (handler) => makeServer(handler),
  });
  // Bodies are of no type here; the one page that takes one reads it as text.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  const services = new Set<string>();
  const methodsOf = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const root = rootOf(url);
    if (PLAIN_HANDLERS.has(root)) return;
    services.add(root);
    const methods = methodsOf.get(url) ?? new Set();
    for (const one of [method].flat()) methods.add(one);
    methodsOf.set(url, methods);
  });
  methodsByApp.set(app, methodsOf);
  // Go's mux sends a path that is not clean elsewhere, before anyone is asked who he is.
  app.addHook('onRequest', async (request, reply) => {
    const [path = '/', query] = request.url.split('?', 2);
    const clean = cleanPath(path);
    if (clean === path) return;
    const location = query === undefined ? clean : `${clean}?${query}`;
    await reply
      .code(301)
      .header('location', location)
      .type('text/html; charset=utf-8')
      .send(`<a href="${location.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)}">Moved Permanently</a>.\n\n`);
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '/';
    if (!services.has(rootOf(path))) return httpError(reply, 404, '404 page not found');
    return restfulError(reply, 404, '404: Page Not Found');
  });
  app.setErrorHandler((error, request, reply) => {
    const known = error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number';
    const status = known && typeof error.statusCode === 'number' ? error.statusCode : 500;
    if (status >= 500) log.error({ err: error, path: request.url }, 'HTTP request failed');
    const text = error instanceof Error ? error.message : String(error);
    return httpError(reply, status, status >= 500 ? `internal server error: ${text}` : text);
  });
  return app;
}

/** To be called once all routes are there: adds what go-restful says of a method that a path does not have. */
export function refuseOtherMethods(app: FastifyInstance): void {
  for (const [url, methods] of [...(methodsByApp.get(app) ?? [])]) {
    const allow = [...methods].join(', ');
    app.route({
      method: METHODS.filter((method) => !methods.has(method)),
      url,
      handler: (_request, reply) => restfulError(reply.header('allow', allow), 405, '405: Method Not Allowed'),
    });
  }
}

/** Hands a request that asks for another protocol to the routes, with its raw connection (see upgrade.ts). */
export function routeUpgrades(app: FastifyInstance, server: Server): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const response = new ServerResponse(request);
    response.assignSocket(socket);
    // An answer without a change of protocol ends the connection.
    response.shouldKeepAlive = false;
    response.on('finish', () => socket.end());
    rememberUpgrade(request, { socket, head });
    app.routing(request, response);
  });
}

function rootOf(path: string): string {
  return path.split('/', 2)[1] ?? '';
}

/** As Go's `cleanPath`: no `.`, `..` or empty parts; a slash at the end stays. */
function cleanPath(path: string): string {
  return posix.normalize(path.startsWith('/') ? path : `/${path}`);
}
