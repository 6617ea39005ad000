import type { IncomingHttpHeaders } from 'node:http';

/** Sub-protocol of exec and attach that older runtimes do not know over WebSocket (KEP-4006). */
export const REMOTE_COMMAND_V5 = 'v5.channel.k8s.io';
/** Sub-protocol that carries a whole SPDY connection of a port-forward in binary messages (KEP-4006). */
export const PORT_FORWARD_TUNNEL = 'SPDY/3.1+portforward.k8s.io';

/** A WebSocket client may put its bearer token here (k8s.io/apiserver websocket.NewProtocolAuthenticator). */
const BEARER_PROTOCOL = 'base64url.bearer.authorization.k8s.io.';

/** True when the client asks for a WebSocket. */
export function isWebSocket(headers: IncomingHttpHeaders): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** The sub-protocols that a WebSocket client offers, in its order, without one that is a token. */
export function offeredProtocols(headers: IncomingHttpHeaders): string[] {
  return (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '' && !protocol.startsWith(BEARER_PROTOCOL));
}
