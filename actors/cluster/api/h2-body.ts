import type { ClientHttp2Stream } from 'node:http2';

/** So much of a body waits here for its reader before the stream is told to pause, bytes. */
const ENOUGH = 1 << 20;

/**
 * The body of one stream, taken off it as it comes. Node's own iterator calls a body cut off when the server had closed
 * the stream before the reader began, though all of it waits in the buffer: on a busy machine head, body and end come at
 * once, and an answer that said "created" looked like a server that cannot be reached.
 */
export class H2Body implements AsyncIterable<Buffer> {
  private readonly stream: ClientHttp2Stream;
  private readonly chunks: Buffer[] = [];
  private waiting = 0;
  private ended = false;
  private closed = false;
  private failure: Error | undefined;
  private wake: () => void = () => undefined;

  /** Reads from now on: make it together with the stream. */
  constructor(stream: ClientHttp2Stream) {
    this.stream = stream;
    stream.on('data', (chunk: Buffer) => {
      this.chunks.push(chunk);
      this.waiting += chunk.length;
      if (this.waiting > ENOUGH) stream.pause();
      this.wake();
    });
    stream.once('end', () => {
      this.ended = true;
      this.wake();
    });
    stream.on('error', (error: Error) => (this.failure ??= error));
    stream.once('close', () => {
      this.closed = true;
      this.wake();
    });
  }

  /** For one reader; one that stops early ends the stream. Throws when the stream ends before its body does. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        const chunk = this.chunks.shift();
        if (chunk !== undefined) {
          this.waiting -= chunk.length;
          if (this.waiting <= ENOUGH && this.stream.isPaused()) this.stream.resume();
          yield chunk;
        } else if (this.ended) return;
        else if (this.closed) throw this.failure ?? new Error('the connection was closed in the middle of the answer');
        else await new Promise<void>((resolve) => (this.wake = resolve));
      }
    } finally {
      if (!this.ended) this.stream.destroy();
    }
  }
}
