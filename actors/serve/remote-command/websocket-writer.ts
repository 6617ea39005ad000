import type { WebSocket } from 'ws';

/** Bytes that may wait in a WebSocket before its writers are slowed down. */
const HIGH_WATER_BYTES = 256 * 1024;

/**
 * Sends a binary message. Undefined when more may be sent at once; otherwise a promise of the moment when this message
 * has left. It resolves also when the connection broke: the 'close' event says so, and nobody needs to hear it twice.
 */
export function sendBinary(ws: WebSocket, message: Buffer): Promise<void> | undefined {
  return send(ws, message, true);
}

/** Sends a text of ASCII letters, as {@link sendBinary} bytes. */
export function sendText(ws: WebSocket, message: string): Promise<void> | undefined {
  return send(ws, message, false);
}

function send(ws: WebSocket, message: Buffer | string, binary: boolean): Promise<void> | undefined {
  if (ws.readyState !== ws.OPEN) return undefined;
  if (ws.bufferedAmount + message.length < HIGH_WATER_BYTES) {
    ws.send(message, { binary }, () => {});
    return undefined;
  }
  return new Promise((resolve) => {
    ws.send(message, { binary }, () => resolve());
  });
}

/** What ws hands to a 'message' listener, as one buffer. */
export function messageBytes(data: Buffer | ArrayBuffer | Buffer[]): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
