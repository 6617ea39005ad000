import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * Sends on what comes from one connection to another, and its end; a slow reader slows the sender down. What comes once
 * `to` is closed is thrown away.
 *
 * As `pipe`, but made for the many small pieces that a TLS connection gives (16 KiB at most, and clients of SPDY write a
 * frame's head by itself): what comes in one turn of the event loop leaves in one call, and memory is given back by hand.
 * @param count is told how many bytes came
 */
export function pour(from: Duplex, to: Duplex, count: (bytes: number) => void): void {
  const written = from instanceof Socket && to instanceof Socket ? releasing() : undefined;
  let collecting = false;
  const flush = (): void => {
    collecting = false;
    to.uncork();
  };
  from.on('data', (chunk: Buffer) => {
    count(chunk.length);
    if (to.destroyed) return;
    if (!collecting) {
      collecting = true;
      to.cork();
      // Right after the turn's last read: a key that is pressed waits for nothing.
      setImmediate(flush);
    }
    if (!to.write(chunk, written?.(chunk))) from.pause();
  });
  passOnEnd(from, to);
  to.on('drain', () => from.resume());
}

/** Ends `to` when `from` has ended; a client may have done so before the runtime answered. */
export function passOnEnd(from: Duplex, to: Duplex): void {
  if (from.readableEnded) to.end();
  else from.once('end', () => to.end());
}

/**
 * Frees the memory of pieces once they are written, in the order in which they were handed over. Left to the garbage
 * collector, they cost a whole collection for each 16 MiB of a stream, half of its CPU: V8 counts what lies outside its
 * heap as a reason to collect.
 *
 * Only for connections of the system: there a piece belongs to nobody else, and a write that is done needs it no more.
 */
function releasing(): (chunk: Buffer) => (error?: Error | null) => void {
  const underWay: Buffer[] = [];
  let broken = false;
  const written = (error?: Error | null): void => {
    const chunk = underWay.shift();
    // The writes that a broken connection gives up are not told in order.
    if (error) broken = true;
    if (chunk !== undefined && !broken) release(chunk);
  };
  return (chunk) => {
    underWay.push(chunk);
    return written;
  };
}

/** Not the memory of a piece that shares it with others. */
function release({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
