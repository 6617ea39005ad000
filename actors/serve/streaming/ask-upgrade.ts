import type { IncomingMessage } from 'node:http';
import { dialUpgrade } from '../remote-command/dial-upgrade.ts';
import type { DialOptions, UpgradeAnswer } from '../remote-command/dial-upgrade.ts';
import { targetHeaders } from './target-request.ts';

/**
 * Sends the client's upgrade request on to the runtime's streaming server, with the target's path and query and the
 * client's headers.
 * @throws Error with the words that kubelet has for a connection that failed
 */
export async function askUpgrade(
  client: IncomingMessage,
  target: URL,
  { signal, ca }: Pick<DialOptions, 'signal' | 'ca'>,
): Promise<UpgradeAnswer> {
  try {
    return await dialUpgrade(target, { method: client.method, headers: targetHeaders(client), signal, ca });
  } catch (error) {
    if (signal.aborted) throw new Error('context canceled', { cause: error });
    throw error instanceof Error ? inGoWords(error, target) : error;
  }
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
