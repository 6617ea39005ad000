import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { aggregate } from '../../../machines/values/aggregate.ts';
import type { FeatureGates } from '../../configure/configuration/feature-gates.ts';
import type { KubeletConfiguration } from '../../configure/configuration/kubelet-configuration.ts';
import { acceptable } from '../server/acceptable.ts';
import { parseGoQuery, unescapePath } from '../server/go-query.ts';
import { FileServer, httpError } from './file-server.ts';
import { parseNodeLogQuery, validateNodeLogQuery } from './node-log-query.ts';
import type { NodeLogQuery } from './node-log-query.ts';
import { statInRoot } from './open-in-root.ts';
import { writeServiceLogs } from './service-logs.ts';

/** Options of {@link addNodeLogRoutes}. */
export interface NodeLogOptions {
  config: Pick<KubeletConfiguration, 'enableSystemLogHandler' | 'enableSystemLogQuery'>;
  gates: FeatureGates;
  log: Logger;
  /** Folder that is served; `/var/log` when absent. */
  dir?: string;
  /** Program that reads the journal; `journalctl` of the PATH when absent. */
  journalctl?: string;
}

/** A query of services may take this long, ms. */
const QUERY_MS = 30_000;

/**
 * `GET /logs/` and `/logs/{logpath:*}`: the files of `/var/log`, and with `enableSystemLogQuery` and the feature gate
 * NodeLogQuery also `?query=` for services and files (KEP-2258).
 */
export function addNodeLogRoutes(app: FastifyInstance, options: NodeLogOptions): void {
  if (!options.config.enableSystemLogHandler) {
    const refuse = (_request: FastifyRequest, reply: FastifyReply): FastifyReply => {
      reply.hijack();
      httpError(reply.raw, 405, 'logs endpoint is disabled.');
      return reply;
    };
    app.all('/logs', refuse);
    app.all('/logs/*', refuse);
    return;
  }
  const files = new FileServer(options.dir ?? '/var/log');
  const mayQuery = options.config.enableSystemLogQuery && options.gates.enabled('NodeLogQuery');
  app.get('/logs', { exposeHeadRoute: false, ...acceptable() }, (request, reply) => {
    const { query } = splitTarget(request.raw.url);
    return reply
      .code(307)
      .header('location', query === '' ? '/logs/' : `/logs/?${query}`)
      .send();
  });
  app.get('/logs/*', { exposeHeadRoute: false, ...acceptable() }, async (request, reply) => {
    reply.hijack();
    try {
      await answer(request, reply.raw, files, mayQuery, options);
    } catch (error) {
      // The head is out and the client gone, or the file cannot be read: the client must not think that this was all.
      options.log.debug({ err: error, path: request.url }, 'A node log was not sent to its end');
      reply.raw.destroy();
    }
    return reply;
  });
}

async function answer(
  request: FastifyRequest,
  response: ServerResponse,
  files: FileServer,
  mayQuery: boolean,
  options: NodeLogOptions,
): Promise<void> {
  const { path: escaped, query } = splitTarget(request.raw.url);
  const path = unescapePath(escaped.slice('/logs'.length));
  if (path === undefined) {
    httpError(response, 400, '400 Bad Request');
    return;
  }
  const asked = { request: request.raw, response, path, query };
  if (!mayQuery) {
    await files.serve(asked);
    return;
  }
  const parsed = parseNodeLogQuery(parseGoQuery(request.raw.url ?? ''));
  if (parsed.problems.length > 0) {
    httpError(response, 400, aggregate(parsed.problems));
    return;
  }
  if (parsed.query === undefined) {
    await files.serve(asked);
    return;
  }
  if (path !== '/' && path !== '') {
    httpError(response, 406, 'path not allowed in query mode');
    return;
  }
  const problems = await validateNodeLogQuery(parsed.query, (file) => statInRoot(options.dir ?? '/var/log', file));
  if (problems.length > 0) {
    httpError(response, 406, aggregate(problems));
    return;
  }
  const [file] = parsed.query.files;
  if (file === undefined) await answerServices(request, response, parsed.query, options);
  else await files.serve({ ...asked, path: file.startsWith('/') ? file : `/${file}` });
}

async function answerServices(
  request: FastifyRequest,
  response: ServerResponse,
  query: NodeLogQuery,
  options: NodeLogOptions,
): Promise<void> {
  // It closed while the query was looked at, and tells that no more: nothing would end the program.
  if (response.destroyed) return;
  const end = new AbortController();
  const timer = setTimeout(() => {
    end.abort();
  }, QUERY_MS);
  response.once('close', () => {
    end.abort();
  });
  const gzip = request.headers['accept-encoding'] === 'gzip';
  response.writeHead(200, {
    'content-type': 'text/plain;charset=UTF-8',
    ...(gzip && { 'content-encoding': 'gzip' }),
  });
  const out = new PassThrough();
  // What goes wrong is told by the pipeline below; a late write into it says nothing new.
  out.on('error', () => {});
  try {
    const sent = gzip
      ? pipeline(out, (await import('node:zlib')).createGzip({ level: 1 }), response)
      : pipeline(out, response);
    const written = writeServiceLogs({
      query,
      dir: options.dir ?? '/var/log',
      journalctl: options.journalctl ?? 'journalctl',
      out,
      signal: end.signal,
    }).finally(() => out.end());
    await Promise.all([sent, written]);
  } finally {
    clearTimeout(timer);
  }
}

function splitTarget(target = '/'): { path: string; query: string } {
  const mark = target.indexOf('?');
  return mark < 0 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}
