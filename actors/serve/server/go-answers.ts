import type { FastifyReply } from 'fastify';

const TEXT = 'text/plain; charset=utf-8';

/** An error as go-restful writes it (`WriteErrorString`): the bare text. */
export function restfulError(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).type(TEXT).send(text);
}

/** What Go's `http.Error` writes, whatever it is written to: a line of text. */
export function httpErrorParts(text: string): { headers: Record<string, string>; body: string } {
  return { headers: { 'Content-Type': TEXT, 'X-Content-Type-Options': 'nosniff' }, body: `${text}\n` };
}

/** {@link httpErrorParts} as the answer of a route. */
export function httpError(reply: FastifyReply, status: number, text: string): FastifyReply {
  const { headers, body } = httpErrorParts(text);
  return reply.code(status).headers(headers).send(body);
}

/** JSON as kubelet's handlers write it: as bytes, since to a string fastify would add a charset that kubelet has not. */
export function goJson(reply: FastifyReply, value: unknown): FastifyReply {
  return jsonText(reply, JSON.stringify(value));
}

/** An object of the API, as Kubernetes' codecs write it: with a newline behind it. */
export function apiObject(reply: FastifyReply, object: unknown): FastifyReply {
  return jsonText(reply, `${JSON.stringify(object)}\n`);
}

function jsonText(reply: FastifyReply, text: string): FastifyReply {
  return reply.type('application/json').send(Buffer.from(text));
}
