import type { Server } from 'node:https';
import type { Socket } from 'node:net';

/** TLS record of a fatal alert `internal_error`, which is what Go sends when it has no certificate to show. */
const INTERNAL_ERROR = Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x50]);
const HANDSHAKE = 0x16;
/** How long a client may take to begin, in ms. */
const LONGEST_WAIT_MS = 10_000;

/**
 * Puts a gate before a server's TLS: while `closed` tells a reason, handshakes fail with the alert that kubelet's fail with
 * (clients say `remote error: tls: internal error`), where OpenSSL would blame the client's ciphers.
 */
export function gateHandshakes(
  server: Server,
  closed: () => string | null,
  onRefused: (remote: string, reason: string) => void,
): void {
  const listeners = server.listeners('connection') as ((this: Server, socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const reason = closed();
    if (reason === null) {
      for (const listener of listeners) listener.call(server, socket);
      return;
    }
    const remote = `${socket.remoteAddress ?? ''}:${String(socket.remotePort ?? '')}`;
    socket.setTimeout(LONGEST_WAIT_MS, () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.once('data', (first: Buffer) => {
      onRefused(remote, reason);
      if (first[0] !== HANDSHAKE) socket.destroy();
      else socket.end(INTERNAL_ERROR, () => socket.destroySoon());
    });
  });
}
