import type { FastifyReply } from 'fastify';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Answers of Go's HTTP server to what is no request; all else is 400 (net/http, `conn.serve`). */
const STATUS_OF: ReadonlyMap<string, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
]);

/** Of these nobody is told: the client was too slow, or is gone. */
const SILENT: ReadonlySet<string> = new Set(['ERR_HTTP_REQUEST_TIMEOUT', 'ECONNRESET']);

const BAD_REQUEST = '400 Bad Request';

/** Answers bytes that are no HTTP request as Go does, after the answers to the requests before them, and closes. */
export function answerMalformed({ code = '' }: NodeJS.ErrnoException, socket: Socket): void {
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
export function answerBadUrl(reply: FastifyReply): void {
  void reply.code(400).header('connection', 'close').type('text/plain; charset=utf-8').send(BAD_REQUEST);
}

/** The answer that is under way on a connection; Node would throw, with nobody to catch it, if another were begun. */
export function responseOn(socket: Socket): ServerResponse | undefined {
  const { _httpMessage } = socket as Socket & { _httpMessage?: ServerResponse | null };
  return _httpMessage ?? undefined;
}
