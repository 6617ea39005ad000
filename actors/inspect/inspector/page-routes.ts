import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { answerError, takesGzip } from './answer-json.ts';
import { loadPage } from './page-files.ts';
import type { PageFile } from './page-files.ts';

/** Loads the page's files, once; again when that failed. */
export type LoadPage = () => Promise<Map<string, PageFile>>;

/** Loads the page when it is first asked for. */
export function pageLoader({ log, page }: { log: Logger; page?: string }): LoadPage {
  let loading: Promise<Map<string, PageFile>> | undefined;
  return () =>
    (loading ??= loadPage(page).catch((error: unknown) => {
      loading = undefined;
      log.error({ err: error }, "The inspector's page cannot be shown");
      throw error;
    }));
}

/** The files that the page names. */
export function addPageFiles(app: FastifyInstance, load: LoadPage): void {
  app.get('/:file', (request, reply) => sendPageFile(request, reply, load, (request.params as { file: string }).file));
}

/** Answers with one of the page's files. */
export async function sendPageFile(
  request: FastifyRequest,
  reply: FastifyReply,
  load: LoadPage,
  name: string,
): Promise<FastifyReply> {
  let files: Map<string, PageFile>;
  try {
    files = await load();
  } catch (error) {
    return answerError(reply, 503, error instanceof Error ? error.message : String(error));
  }
  const file = files.get(name);
  if (file === undefined) return answerError(reply, 404, 'there is no such page');
  const versioned = (request.query as { v?: string }).v === file.etag.slice(1, -1);
  void reply
    .header('cache-control', versioned ? 'private, max-age=31536000, immutable' : 'no-cache')
    .header('vary', 'accept-encoding')
    .header('etag', file.etag);
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
  void reply.type(file.type);
  if (!takesGzip(request)) return reply.send(file.body);
  return reply.header('content-encoding', 'gzip').send(file.gzipped);
}
