import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** A client that speaks HTTP by hand. */
export interface RawClient {
  socket: Socket;
  /** All that came so far, as latin1. */
  text(): string;
  /** Waits until that text is among what came. */
  until(text: string): Promise<string>;
  /** Waits for the server's end (true), or the loss of the connection (false). */
  ended: Promise<boolean>;
  closed: Promise<void>;
}

/** Connects; with `ca` by TLS. */
export async function rawClient(port: number, ca?: string): Promise<RawClient> {
  const options = { host: '127.0.0.1', port, allowHalfOpen: true };
  const socket = ca === undefined ? connect(options) : connectTls({ ...options, ca, servername: 'localhost' });
  await new Promise<void>((resolve, reject) => {
    socket.once(ca === undefined ? 'connect' : 'secureConnect', resolve);
    socket.once('error', reject);
  });
  let text = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  const ended = new Promise<boolean>((resolve) => {
    socket.once('end', () => {
      resolve(true);
    });
    socket.once('close', () => {
      resolve(false);
    });
  });
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      resolve();
    });
  });
  const until = (wanted: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (text.includes(wanted)) resolve(text);
      };
      socket.on('data', look);
      socket.once('close', () => {
        look();
        reject(new Error(`closed before ${JSON.stringify(wanted)} came, after ${JSON.stringify(text.slice(0, 2000))}`));
      });
      look();
    });
  return { socket, text: () => text, until, ended, closed };
}

/** The text of an upgrade request. */
export function upgradeRequest(
  path: string,
  headers: readonly string[] = ['Upgrade: SPDY/3.1'],
  method = 'POST',
): string {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: node', 'Connection: Upgrade', ...headers, 'Content-Length: 0'];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
