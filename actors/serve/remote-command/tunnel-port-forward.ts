import type { Logger } from 'pino';
import { acceptWebSocket } from './accept-websocket.ts';
import type { UpgradeClient } from './accept-websocket.ts';
import { dialForClient } from './dial-for-client.ts';
import { messageBytes, sendBinary } from './websocket-writer.ts';

/** Prefix of the WebSocket sub-protocols that carry SPDY (k8s.io/apimachinery/pkg/util/portforward). */
const TUNNEL_PREFIX = 'SPDY/3.1+';

/** The stream protocol of port forwarding. */
const PORT_FORWARD_PROTOCOL = 'portforward.k8s.io';

/** One port-forward of a WebSocket client. */
export interface PortForwardTunnel {
  client: UpgradeClient;
  /** The URL that the runtime gave for this session (http or https). */
  target: URL;
  log: Logger;
  /** Ends the session. */
  signal: AbortSignal;
  /** Called for every message in either direction, for an idle timeout. */
  onActivity?: () => void;
}

/**
 * Serves a client that speaks `SPDY/3.1+portforward.k8s.io`: its binary messages carry the bytes of a SPDY connection,
 * which go to the runtime's and back unread (KEP-4006, as the API server's tunnel does). Answers the client's handshake
 * after the runtime's, so that a refusal reaches the client as a plain HTTP answer. Resolves when both connections are
 * over, and never rejects.
 */
export async function tunnelPortForward(tunnel: PortForwardTunnel): Promise<void> {
  const { client, target, log, signal, onActivity } = tunnel;
  const answer = await dialForClient(client, target, [PORT_FORWARD_PROTOCOL], log, signal);
  if (answer === undefined) return;
  const { socket, head } = answer;
  const ws = await acceptWebSocket(client, TUNNEL_PREFIX + (answer.protocol || PORT_FORWARD_PROTOCOL));
  if (ws === undefined) {
    socket.destroy();
    return;
  }
  const closed = new Promise((resolve) => ws.once('close', resolve));
  const stop = () => {
    ws.close(1001);
    socket.destroy();
  };
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();

  const toClient = (bytes: Buffer): void => {
    onActivity?.();
    const sent = sendBinary(ws, bytes);
    if (sent === undefined) return;
    socket.pause();
    void sent.then(() => socket.resume());
  };
  if (head.length > 0) toClient(head);
  socket.on('data', toClient);
  socket.on('end', () => ws.close(1000));
  socket.on('close', () => {
    ws.close(1000);
    ws.resume(); // to read the client's own close
  });
  socket.on('drain', () => ws.resume());
  if (socket.destroyed) ws.close(1000);

  ws.on('message', (data, isBinary) => {
    onActivity?.();
    if (!isBinary) {
      log.warn('a client sent text into a tunnel');
      ws.close(1003);
      return;
    }
    if (socket.writable && !socket.write(messageBytes(data))) ws.pause();
  });
  ws.once('close', () => socket.end(() => socket.destroy()));
  ws.resume();
  await closed;
  signal.removeEventListener('abort', stop);
  await untilClosed(socket);
}

/** Waits for the last bytes to leave, 5 s at most. */
async function untilClosed(socket: NodeJS.EventEmitter & { closed: boolean; destroy(): unknown }): Promise<void> {
  if (socket.closed) return;
  const timer = setTimeout(() => socket.destroy(), 5_000);
  await new Promise((resolve) => socket.once('close', resolve));
  clearTimeout(timer);
}
