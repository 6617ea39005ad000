import { request as httpRequest } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { targetHeaders } from './target-request.ts';

/** What the runtime's streaming server answered: another protocol from now on, or a plain answer with a body. */
export type UpgradeAnswer =
  | { kind: 'switched'; response: IncomingMessage; socket: Duplex; head: Buffer }
  | { kind: 'plain'; response: IncomingMessage };

/** Settings of {@link askUpgrade}. */
export interface AskUpgradeOptions {
  /** Ends the connection, also one that has been answered with a plain answer. */
  signal: AbortSignal;
  /** Certificates that vouch for an `https` streaming server; the system's when absent, as with kubelet. */
  ca?: readonly string[];
}

/**
 * Sends the client's upgrade request on to the runtime's streaming server, with the target's path and query and the
 * client's headers.
 * @throws Error with the words that kubelet has for a connection that failed
 */
export async function askUpgrade(
  client: IncomingMessage,
  target: URL,
  { signal, ca }: AskUpgradeOptions,
): Promise<UpgradeAnswer> {
  const options: RequestOptions & { ca?: string[] } = {
    method: client.method,
    headers: targetHeaders(client),
    // A connection of its own: it is given away.
    agent: false,
    signal,
  };
  let send = httpRequest;
  if (target.protocol === 'https:') {
    const [https, tls] = await Promise.all([import('node:https'), import('node:tls')]);
    send = https.request;
    options.ca = [...(ca ?? [...tls.getCACertificates('default'), ...tls.getCACertificates('system')])];
  }
  return new Promise((resolve, reject) => {
    const request = send(target, options);
    request.once('upgrade', (response, socket, head) => {
      // From here on the signal is the splice's business: Node would end the socket with an error.
      resolve({ kind: 'switched', response, socket, head });
    });
    request.once('response', (response) => {
      resolve({ kind: 'plain', response });
    });
    request.on('error', (error) => {
      reject(signal.aborted ? new Error('context canceled', { cause: error }) : inGoWords(error, target));
    });
    request.once('socket', (socket: Socket) => socket.setNoDelay(true));
    request.end();
  });
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
};

function inGoWords(error: Error, target: URL): Error {
  const code = 'code' in error ? String(error.code) : '';
  const words = WORDS[code];
  if (words !== undefined) {
    const address = `${target.hostname}:${target.port || (target.protocol === 'https:' ? '443' : '80')}`;
    return new Error(`error dialing backend: dial tcp ${address}: connect: ${words}`, { cause: error });
  }
  if (code === 'ECONNRESET') return new Error('unexpected EOF', { cause: error });
  if (code.startsWith('HPE_')) return new Error(`malformed HTTP response: ${error.message}`, { cause: error });
  return new Error(`error dialing backend: ${error.message}`, { cause: error });
}
