import type { FastifyReply } from 'fastify';

const TEXT = 'text/plain; charset=utf-8';

/** An error as go-restful writes it (`WriteErrorString`): the bare text. */
export function restfulError(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).type(TEXT).send(text);
}

/** An error as Go's `http.Error` writes it: a line of text. */
export function httpError(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).header('x-content-type-options', 'nosniff').type(TEXT).send(`${text}\n`);
}

/** JSON as kubelet's handlers write it: as bytes, since to a string fastify would add a charset that kubelet has not. */
export function goJson(reply: FastifyReply, value: unknown): FastifyReply {
  return reply.type('application/json').send(Buffer.from(JSON.stringify(value)));
}
