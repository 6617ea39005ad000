import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { httpErrorParts } from '../server/go-answers.ts';

/** An answer without an upgrade on a connection that asked for one. */
export interface RawAnswer {
  status: number;
  /** Names as they are to be sent. */
  headers?: Record<string, string>;
  body: string | Buffer;
}

/** Writes a whole HTTP/1.1 answer to the raw connection and closes it. */
export function sendRawAnswer(socket: Duplex, { status, headers = {}, body }: RawAnswer): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
  const all = {
    ...headers,
    'Content-Length': String(bytes.length),
    Connection: 'close',
    Date: new Date().toUTCString(),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value.replace(/[\r\n]/g, ' ')}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`;
  socket.end(Buffer.concat([Buffer.from(head, 'latin1'), bytes]), () => socket.destroy());
}

/** What Go's `http.Error` answers: plain text with a newline. */
export function httpError(status: number, text: string): RawAnswer {
  return { status, ...httpErrorParts(text) };
}
