import { messageOf } from '../../../machines/values/message-of.ts';
import { ERRNO_WORDS } from '../../host/files/errno-words.ts';
import { codeOf } from '../../host/files/host-failure.ts';

/** Text of a failed connection attempt, e.g. `dial tcp 10.0.0.1:80: connect: connection refused`. */
export function dialText(address: string, error: unknown): string {
  const code = codeOf(error);
  const host = address.replace(/:\d+$/, '');
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${host}: no such host`;
  if (code === 'EAI_AGAIN') return `dial tcp: lookup ${host}: server misbehaving`;
  const known = ERRNO_WORDS[code];
  return `dial tcp ${address}: ${known === undefined ? messageOf(error) : `connect: ${known}`}`;
}

/** Text of a failure on a connection that stands, e.g. `read tcp A->B: read: connection reset by peer`. */
export function streamText(from: string, to: string, error: unknown): string {
  const known = ERRNO_WORDS[codeOf(error)];
  return known === undefined ? messageOf(error) : `read tcp ${from}->${to}: read: ${known}`;
}
