import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { httpError, sendRawAnswer } from './raw-answer.ts';

/** The raw connection of a client that asked for an upgrade. */
export interface UpgradeClient {
  request: IncomingMessage;
  socket: Duplex;
  /** What the client sent after the head of its request. */
  head: Buffer;
}

/** Longest message that is taken: golang.org/x/net/websocket's limit, which kubelet and the API server keep to. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

/** How long the client may take to answer the last message of the connection. */
const CLOSE_TIMEOUT_MS = 5_000;

/**
 * Answers the WebSocket handshake with this sub-protocol ('' for a client that offers none), without compression. Undefined when the handshake was wrong
 * (the client has its 400 then) or the client has gone. The WebSocket is paused: `resume()` it when the listeners are
 * there. Pings of the client are answered, ours are not sent: the
 * servers in kubelet and API server send none, client-go does every 5 s.
 */
export async function acceptWebSocket(client: UpgradeClient, protocol: string): Promise<WebSocket | undefined> {
  const { WebSocketServer } = await import('ws');
  const { request, socket, head } = client;
  if (socket.destroyed) return undefined;
  return new Promise((resolve) => {
    // `closeTimeout` is missing in @types/ws
    const options = {
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      skipUTF8Validation: true,
      maxPayload: MAX_MESSAGE_BYTES,
      closeTimeout: CLOSE_TIMEOUT_MS,
    };
    const server = new WebSocketServer(options);
    server.on('wsClientError', (error) => {
      sendRawAnswer(socket, httpError(400, error.message));
      resolve(undefined);
    });
    // ws refuses names of sub-protocols with a slash, as RFC 6455 says; Kubernetes has one: SPDY/3.1+portforward.k8s.io
    const { 'sec-websocket-protocol': _, ...headers } = request.headers;
    const plain = Object.create(request, { headers: { value: headers } }) as IncomingMessage;
    if (protocol !== '') server.on('headers', (lines) => lines.push(`Sec-WebSocket-Protocol: ${protocol}`));
    const gone = () => resolve(undefined);
    socket.once('close', gone);
    server.handleUpgrade(plain, socket, head, (ws) => {
      socket.removeListener('close', gone);
      ws.pause(); // what the client sends now must wait for the listeners of whoever awaits this
      ws.on('error', () => {}); // 'close' follows it
      resolve(ws);
    });
  });
}
