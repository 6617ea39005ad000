import type { FastifyReply, FastifyRequest } from 'fastify';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';

const compress = promisify(gzip);
/** Below this a compressed answer is no faster. */
const MIN_BYTES = 2_048;

/** Answers with JSON, compressed when the client takes that. Never stored: it shows the node as it is now. */
export async function answerJson(request: FastifyRequest, reply: FastifyReply, value: unknown): Promise<FastifyReply> {
  return answerJsonBody(request, reply, Buffer.from(JSON.stringify(value)));
}

/** The same for JSON that is ready. */
export async function answerJsonBody(
  request: FastifyRequest,
  reply: FastifyReply,
  body: Buffer,
): Promise<FastifyReply> {
  void reply.type('application/json').header('cache-control', 'no-store').header('vary', 'accept-encoding');
  if (body.length < MIN_BYTES || !takesGzip(request)) return reply.send(body);
  return reply.header('content-encoding', 'gzip').send(await compress(body, { level: constants.Z_BEST_SPEED }));
}

/** `{ "error": text }`. */
export function answerError(reply: FastifyReply, status: number, error: string): FastifyReply {
  return reply
    .code(status)
    .type('application/json')
    .header('cache-control', 'no-store')
    .send(JSON.stringify({ error }));
}

/** The client takes gzip. */
export function takesGzip({ headers }: FastifyRequest): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(String(headers['accept-encoding'] ?? ''));
}
