import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { KeptBuffer } from './kept-buffer.ts';
import { pour } from './pour.ts';

/** How a splice ended. */
export interface SpliceEnd {
  /** Bytes from client to runtime. */
  sent: number;
  /** Bytes from runtime to client. */
  received: number;
  /** What broke the connection, when it did not end by itself. */
  error?: Error;
}

/** Settings of {@link splice}. */
export interface SpliceOptions {
  /** Ends both connections at once. */
  signal: AbortSignal;
  /** Once one side has ended, the other may stay silent for so long, ms. */
  lingerMs?: number;
  /** Then, one that has not taken yet what the other had sent before its end may take nothing of it for so long, ms. */
  drainMs?: number;
  /** What reads the runtime's connection, when it is one of those. */
  kept?: KeptBuffer | undefined;
}

const LINGER_MS = 5_000;
/** A reader that waits for its disk or its own network is not gone; cut off, it would take what it has for all. */
const DRAIN_MS = 300_000;

/**
 * Joins two connections until both are closed: bytes go both ways, a slow reader slows the sender down, and an end of
 * one side is told to the other, which may still send (half-close). No side outlives the other: one that stays silent
 * after the other's end, and has taken all that it sent, is closed (kubelet closes it at once, and may so lose the last bytes).
 *
 * When the runtime's connection breaks, what it sent before still reaches the client; when the client's breaks, there
 * is nobody to tell, and the runtime's is closed. A client that has ended as it should has all that it sent delivered.
 */
export function splice(client: Duplex, runtime: Duplex, options: SpliceOptions): Promise<SpliceEnd> {
  const { signal, lingerMs = LINGER_MS, drainMs = DRAIN_MS, kept } = options;
  return new Promise((resolve) => {
    const end: SpliceEnd = { sent: 0, received: 0 };
    let open = 2;
    let linger: NodeJS.Timeout | undefined;
    let stateThen = '';
    let waited = 0;

    const cut = (): void => {
      client.destroy();
      runtime.destroy();
    };
    const lingering = (): void => {
      const waiting = client.writableLength + runtime.writableLength;
      const state = `${String(end.sent)} ${String(end.received)} ${String(waiting)}`;
      if (state !== stateThen) waited = 0;
      else if ((waited += lingerMs) >= (waiting > 0 ? drainMs : lingerMs)) {
        cut();
        return;
      }
      stateThen = state;
      linger = setTimeout(lingering, lingerMs);
    };
    const beginLinger = (): void => {
      if (linger === undefined && open > 0) lingering();
    };
    const closed = (): void => {
      open -= 1;
      if (open > 0) return;
      clearTimeout(linger);
      signal.removeEventListener('abort', cut);
      resolve(end);
    };
    const failed = (error: Error): void => {
      end.error ??= error;
    };

    for (const socket of [client, runtime]) {
      socket.allowHalfOpen = true;
      if (socket instanceof Socket) socket.setNoDelay(true).setTimeout(0);
      socket.on('error', failed);
      // One that ended before anybody listened, as a client may while the runtime is asked, tells it no more.
      if (socket.readableEnded) beginLinger();
      else socket.once('end', beginLinger);
    }
    client.once('close', () => {
      // Both ways of the client have ended as they should: what it sent last may still wait for a slow runtime.
      const undelivered = client.readableEnded && client.writableFinished && !runtime.writableFinished;
      if (undelivered && !runtime.destroyed) {
        runtime.once('finish', () => runtime.destroy());
        beginLinger();
      } else runtime.destroy();
      closed();
    });
    runtime.once('close', () => {
      if (!client.destroyed) {
        // Read on and throw away: closing a socket with unread bytes resets it, and the client would lose our last ones.
        client.resume();
        if (!client.writableEnded) client.end();
        beginLinger();
      }
      closed();
    });
    if (signal.aborted) cut();
    else signal.addEventListener('abort', cut, { once: true });
    if (client.destroyed || runtime.destroyed) cut();
    pour(client, runtime, (bytes) => (end.sent += bytes));
    const received = (bytes: number): void => {
      end.received += bytes;
    };
    // Memory is kept only for a client that has taken what it says it has written: a connection of the system.
    if (kept !== undefined && client instanceof Socket) kept.pourInto(client, received);
    else pour(runtime, client, received);
    // A connection that closed before anybody listened tells nothing any more.
    if (client.closed) closed();
    if (runtime.closed) closed();
  });
}
