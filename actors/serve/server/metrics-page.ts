import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { processStart } from '../../record/metrics/process-metrics.ts';
import { TEXT_FORMAT_CONTENT_TYPE } from '../../record/metrics/text-format.ts';

/** In a thread of libuv: a page of a full node has megabytes. */
const compress = promisify(gzip);
const STARTED_AT = String(Math.floor(processStart()));

/**
 * Answers with a page of metrics in the text format, as Prometheus' handler for Go: compressed for who asks for that, and with
 * the time at which the process began.
 */
export async function metricsPage(request: FastifyRequest, reply: FastifyReply, text: string): Promise<FastifyReply> {
  void reply.header('process-start-time-unix', STARTED_AT).type(TEXT_FORMAT_CONTENT_TYPE);
  if (!prefersGzip(request.headers['accept-encoding'] ?? '')) return reply.send(text);
  const body = await compress(text);
  return reply.header('content-encoding', 'gzip').send(body);
}

/**
 * Does `Accept-Encoding` like gzip more than no compression? What it likes as much goes uncompressed, and what follows something that makes
 * no sense is not read (gddo's NegotiateContentEncoding with the offers identity and gzip).
 */
export function prefersGzip(header: string | readonly string[]): boolean {
  const liked = { identity: -1, gzip: -1 };
  for (const part of String(header).split(',')) {
    const [name = '', quality] = part.split(';', 2).map((word) => word.trim());
    const q = quality === undefined ? 1 : /^q=[01](\.\d*)?$/.test(quality) ? Number(quality.slice(2)) : null;
    if (name === '' || q === null) break;
    if (name === 'identity' || name === '*') liked.identity = Math.max(liked.identity, q);
    if (name === 'gzip' || name === '*') liked.gzip = Math.max(liked.gzip, q);
  }
  return liked.gzip > 0 && liked.gzip > liked.identity;
}
