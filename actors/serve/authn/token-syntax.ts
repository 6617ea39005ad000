import type { IncomingHttpHeaders } from 'node:http';
import { trimmed } from '../../../machines/values/trim.ts';

const BEARER_PROTOCOL = 'base64url.bearer.authorization.k8s.io.';

/**
 * The token of an `Authorization: Bearer` header by the rules of kubelet's bearer token authenticator, null when there
 * is none: the word in any case, one space, then all up to the next space. A second space in a row makes it none.
 */
export function bearerToken(headers: IncomingHttpHeaders): string | null {
  const [scheme = '', token = ''] = goText(headers.authorization).split(' ', 3);
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : null;
}

/** A token that came as a WebSocket protocol, and the protocols that remain without it. */
export interface WebSocketToken {
  token: string;
  /** As header value. */
  protocols: string;
}

/**
 * The token among the protocols of a WebSocket upgrade (`base64url.bearer.authorization.k8s.io.TOKEN`), which browsers
 * use since they cannot set headers; null when there is none. Throws on two tokens, on a bad encoding, and when no
 * other protocol comes along.
 */
export function webSocketToken(headers: IncomingHttpHeaders): WebSocketToken | null {
  if (headers.upgrade?.toLowerCase() !== 'websocket') return null;
  if (headers.connection?.toLowerCase().includes('upgrade') !== true) return null;
  const header = headers['sec-websocket-protocol'];
  if (header === undefined) return null;
  const tokens: string[] = [];
  const others: string[] = [];
  for (const part of header.split(',')) {
    const protocol = trim(part);
    (protocol.startsWith(BEARER_PROTOCOL) ? tokens : others).push(protocol);
  }
  if (tokens.length > 1) throw new Error('multiple base64.bearer.authorization tokens specified');
  const token = decoded((tokens[0] ?? '').slice(BEARER_PROTOCOL.length));
  if (token === '') return null;
  if (others.length === 0) throw new Error('missing additional subprotocol');
  return { token, protocols: others.join(',') };
}

function decoded(text: string): string {
  if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) {
    throw new Error('invalid base64.bearer.authorization token encoding');
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(text, 'base64url'));
  } catch (cause) {
    throw new Error('invalid base64.bearer.authorization token', { cause });
  }
}

/** Node reads a header's bytes as Latin-1; tokens are UTF-8. */
function goText(value: string | undefined): string {
  return trim(Buffer.from(value ?? '', 'latin1').toString('utf8'));
}

/** White space of Unicode: what `trim` takes, and NEL. */
const SPACES =
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';

/** As Go's strings.TrimSpace. */
function trim(text: string): string {
  return trimmed(text, SPACES);
}
