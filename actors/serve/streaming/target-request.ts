import type { IncomingMessage } from 'node:http';
import { offeredProtocols } from './protocols.ts';

/**
 * Who sends the request is settled here; the runtime must not learn the means to act in the sender's name. The rest of
 * the list concerns the message's length, which is written anew.
 */
const KEPT_BACK =
  /^(authorization|proxy-authorization|cookie|x-remote-.*|impersonate-.*|content-length|transfer-encoding|expect|x-forwarded-for|sec-websocket-protocol)$/;

/**
 * The header lines that go with an upgrade request to the runtime's streaming server, as a flat list of names and
 * values: the client's own, but no credentials, and the client's address added to `X-Forwarded-For`.
 */
export function targetHeaders(request: IncomingMessage): string[] {
  const headers: string[] = [];
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i] ?? '';
    if (!KEPT_BACK.test(name.toLowerCase())) headers.push(name, request.rawHeaders[i + 1] ?? '');
  }
  const protocols = offeredProtocols(request.headers);
  if (protocols.length > 0) headers.push('Sec-WebSocket-Protocol', protocols.join(', '));
  const forwarded = [request.headers['x-forwarded-for'] ?? [], request.socket.remoteAddress ?? []].flat();
  if (forwarded.length > 0) headers.push('X-Forwarded-For', forwarded.join(', '));
  if (request.method === 'POST') headers.push('Content-Length', '0');
  return headers;
}

/** True when a body is announced: an upgrade request with one is not well-formed for any client of Kubernetes. */
export function hasBody(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  return encoding !== undefined || (length !== undefined && !/^0*$/.test(length));
}

/**
 * The address that a runtime gave for a stream. One without scheme means http.
 * @throws Error with kubelet's words for an address that no stream can be had from
 */
export function streamingTarget(address: string): URL {
  const full = address.startsWith('//') ? `http:${address}` : address;
  if (!URL.canParse(full)) throw new Error(`parse ${JSON.stringify(address)}: not a URL with a host`);
  const target = new URL(full);
  if (target.protocol !== 'http:' && target.protocol !== 'https:') {
    throw new Error(`error dialing backend: unknown scheme: ${target.protocol.slice(0, -1)}`);
  }
  return target;
}
