import type { FastifyReply } from 'fastify';
import { messageOf } from '../../../machines/values/message-of.ts';
import { isCriError } from '../../../cri/client/cri-error.ts';

/** An answer other than a stream, in kubelet's words. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, text: string, options?: { cause?: unknown }) {
    super(text, options);
    this.name = 'Refusal';
    this.status = status;
  }
}

/** How long a runtime keeps the token of a stream that nobody has asked for (s): cacheTTL of its streaming server. */
const TOKEN_LIFE_S = 60;

/** Answers with what went wrong, as k8s.io/kubelet/pkg/cri/streaming WriteError does; anything unknown is a 500. */
export function sendRefusal(reply: FastifyReply, error: unknown): FastifyReply {
  const text = messageOf(error);
  reply.type('text/plain; charset=utf-8');
  if (error instanceof Refusal) return reply.code(error.status).send(text);
  if (isCriError(error, 'NotFound')) return reply.code(404).send(text);
  if (isCriError(error, 'ResourceExhausted')) return reply.code(429).header('retry-after', TOKEN_LIFE_S).send(text);
  return reply.code(500).send(text);
}

/** Answers as kubelet's proxy does when no stream came about (Go's `http.Error`, always 500). */
export function sendProxyError(reply: FastifyReply, text: string): FastifyReply {
  return reply
    .code(500)
    .header('x-content-type-options', 'nosniff')
    .type('text/plain; charset=utf-8')
    .send(`${text}\n`);
}

/**
 * Resolves when the answer has left or its connection is gone. (Awaiting the reply itself would reject for a client that
 * has gone, which is no error of ours.)
 */
export function answered(reply: FastifyReply): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      resolve();
    };
    if (reply.raw.writableFinished || reply.raw.destroyed) done();
    else reply.raw.once('finish', done).once('close', done);
  });
}
