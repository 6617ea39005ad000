import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { createServer, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import fastify from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyServerOptions } from 'fastify';
import type { Logger } from 'pino';
import { messageOf } from '../../../machines/values/message-of.ts';
import { httpError, restfulError } from './go-answers.ts';
import { routed } from './request-path.ts';
import { MUX_REDIRECT_STATUS, redirectBody, serveMux } from './serve-mux.ts';
import { rememberUpgrade } from './upgrade.ts';

/** First parts of paths where kubelet has plain Go handlers, which answer every method; elsewhere go-restful chooses. */
const PLAIN_HANDLERS = new Set(['healthz', 'metrics', 'configz', 'flagz', 'statusz', 'debug', 'actorlet']);

/** The one web service below a path of plain handlers. */
const PPROF = '/debug/pprof';
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const;

/** Limits of every server here: Go's, where kubelet sets none, but for a client that is slow with its head. */
export const HTTP_LIMITS = {
  // As Go's DefaultMaxHeaderBytes; a command of exec stands in the URL.
  maxHeaderSize: 1024 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 90_000,
} as const;

type Compilers = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>;

/** No route here has a schema: so fastify need not load what checks and writes by schemas (3 MiB). */
const NO_SCHEMAS = { buildValidator: noSchemas, buildSerializer: noSchemas } as unknown as Compilers;

function noSchemas(): () => never {
  return () => {
    throw new TypeError('routes here have no schemas');
  };
}

/** Makes the server that hands its requests to `handler`. */
export type MakeServer = (handler: RequestListener) => Server;

const plainServer: MakeServer = (handler) => createServer(HTTP_LIMITS, handler);

/** By app, the methods of each path of a web service. */
const methodsByApp = new WeakMap<FastifyInstance, Map<string, Set<string>>>();

/**
 * A bare HTTP server with limits that suit a node's pages, and Go's answers to what it does not know.
 * @param patterns paths as patterns of Go's ServeMux
 * @param makeServer a plain HTTP server by default
 * @param begin adds what sees each request before its path is looked at
 */
export function createHttpApp(
  log: Logger,
  patterns: readonly string[],
  makeServer: MakeServer = plainServer,
  begin?: (app: FastifyInstance) => void,
): FastifyInstance {
  const app = fastify({
    // No logger of its own: it would write a line for each probe of a monitoring system.
    logger: false,
    schemaController: { compilersFactory: NO_SCHEMAS },
    bodyLimit: 1024,
    exposeHeadRoutes: false,
    maxRequestsPerSocket: 0,
    forceCloseConnections: 'idle',
    // As long as the head may be: what is too long is a name that nothing has.
    routerOptions: { ignoreTrailingSlash: false, caseSensitive: true, maxParamLength: HTTP_LIMITS.maxHeaderSize },
    rewriteUrl: ({ url = '/' }) => routed(url),
    serverFactory: (handler) => makeServer(handler),
    clientErrorHandler: answerMalformed,
    frameworkErrors: (_error, _request, reply) => answerBadUrl(reply),
  });
  // Bodies are of no type here; the one page that takes one reads it as text.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  const methodsOf = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    if (PLAIN_HANDLERS.has(url.split('/', 2)[1] ?? '') && !url.startsWith(PPROF)) return;
    const methods = methodsOf.get(url) ?? new Set();
    for (const one of [method].flat()) methods.add(one);
    methodsOf.set(url, methods);
  });
  methodsByApp.set(app, methodsOf);
  begin?.(app);
  // Go's mux looks at the path before anyone is asked who he is.
  app.addHook('onRequest', async (request, reply) => {
    const answer = serveMux(patterns, request.url);
    if (answer.kind === 'notFound') return httpError(reply, 404, '404 page not found');
    if (answer.kind === 'redirect') return redirect(request.method, reply, answer.location);
    return undefined;
  });
  app.setNotFoundHandler((_request, reply) => {
    return restfulError(reply, 404, '404: Page Not Found');
  });
  app.setErrorHandler((error, request, reply) => {
    const known = error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number';
    const status = known && typeof error.statusCode === 'number' ? error.statusCode : 500;
    if (status >= 500) log.error({ err: error, path: request.url }, 'HTTP request failed');
    const text = messageOf(error);
    return httpError(reply, status, status >= 500 ? `internal server error: ${text}` : text);
  });
  return app;
}

/** Once all routes are there: adds what go-restful says of a method that a path does not have. */
export async function refuseOtherMethods(app: FastifyInstance): Promise<void> {
  // Routes of a scope of their own come when it is loaded.
  await app.after();
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
    const before = responseOn(socket);
    if (before !== undefined) {
      // It was sent along with an earlier request that is not answered yet: that answer is the connection's last.
      before.shouldKeepAlive = false;
      before.once('finish', () => socket.destroySoon());
      return;
    }
    const response = new ServerResponse(request);
    response.assignSocket(socket);
    // An answer without a change of protocol ends the connection.
    response.shouldKeepAlive = false;
    response.on('finish', () => {
      response.detachSocket(socket);
      socket.destroySoon();
    });
    // Node's server has forgotten the connection: nobody else tells an answer that waits to go on.
    socket.on('drain', () => {
      if (response.socket === socket && response.writableNeedDrain) response.emit('drain');
    });
    rememberUpgrade(request, { socket, head });
    app.routing(request, response);
  });
}

function redirect(method: string, reply: FastifyReply, location: string): FastifyReply {
  void reply.code(MUX_REDIRECT_STATUS).header('location', location);
  if (method !== 'GET' && method !== 'HEAD') return reply.send();
  return reply.type('text/html; charset=utf-8').send(method === 'GET' ? redirectBody(location) : '');
}

/** Answers of Go's HTTP server to what is no request; all else is 400 (net/http, `conn.serve`). */
const STATUS_OF: ReadonlyMap<string, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
]);

/** Of these nobody is told: the client was too slow, or is gone. */
const SILENT: ReadonlySet<string> = new Set(['ERR_HTTP_REQUEST_TIMEOUT', 'ECONNRESET']);

const BAD_REQUEST = '400 Bad Request';

/** Answers bytes that are no HTTP request as Go does, after the answers to the requests before them, and closes. */
function answerMalformed({ code = '' }: NodeJS.ErrnoException, socket: Socket): void {
  const close = (): void => {
    if (SILENT.has(code) || !socket.writable) {
      socket.destroy();
      return;
    }
    const status = STATUS_OF.get(code) ?? BAD_REQUEST;
    socket.end(`HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${status}`);
  };
  const before = responseOn(socket);
  if (before === undefined) close();
  else before.once('finish', close);
}

/** Answers a request whose path is no URL. */
function answerBadUrl(reply: FastifyReply): void {
  void reply.code(400).header('connection', 'close').type('text/plain; charset=utf-8').send(BAD_REQUEST);
}

/** The answer that is under way on a connection; Node would throw, with nobody to catch it, if another were begun. */
function responseOn(socket: Socket): ServerResponse | undefined {
  const { _httpMessage } = socket as Socket & { _httpMessage?: ServerResponse | null };
  return _httpMessage ?? undefined;
}
