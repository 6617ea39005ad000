import { Duplex } from 'node:stream';
import type { SpdyHeaders } from './frames.ts';

/** What a stream needs of its connection. */
export interface StreamLink {
  /** Sends bytes; `done` is called when the socket can take more, or with the error that ended the connection. */
  sendData(stream: SpdyStream, data: Buffer, fin: boolean, done: (error?: Error | null) => void): void;
  /** The reader can take more of this stream. */
  wantsData(stream: SpdyStream): void;
  /** The stream is over; `tell` when the other side must hear of it by RST_STREAM. */
  released(stream: SpdyStream, tell: boolean): void;
}

/** Bytes that a stream holds in each direction before the sender is slowed down. */
const HIGH_WATER_BYTES = 64 * 1024;

/**
 * One stream of a SPDY connection. `end()` is a half-close; `destroy()` resets the stream. When the other side resets
 * it (Go's servers do that with all streams at the end of a command), reading ends after what came before, and what is
 * written from then on is dropped, since nobody waits for it. The same happens when the connection is lost, as in
 * spdystream: what came before may be the answer that matters. {@link peerFinished} tells the one from the other.
 */
export class SpdyStream extends Duplex {
  readonly id: number;
  readonly headers: SpdyHeaders;
  readonly #link: StreamLink;
  #peerFinished = false;
  #weFinished = false;
  #reset: number | undefined;
  #lost = false;

  constructor(id: number, headers: SpdyHeaders, link: StreamLink) {
    super({ allowHalfOpen: true, readableHighWaterMark: HIGH_WATER_BYTES, writableHighWaterMark: HIGH_WATER_BYTES });
    this.id = id;
    this.headers = headers;
    this.#link = link;
  }

  /** True when the other side said that no more comes, by a FIN or a RST_STREAM. */
  get peerFinished(): boolean {
    return this.#peerFinished;
  }

  /** For the connection: bytes came. False when the reader has enough for now. */
  receive(data: Buffer): boolean {
    return this.destroyed || this.#peerFinished || this.#lost || data.length === 0 || this.push(data);
  }

  /** For the connection: the other side is done, of its own will or by a reset (`status`). */
  receiveEnd(status?: number): void {
    if (status !== undefined) this.#reset ??= status;
    if (this.#peerFinished || this.#lost) return;
    this.#peerFinished = true;
    if (!this.destroyed) this.push(null);
    // A stream that has ended never asks for more: were it counted as behind, the connection would rest for ever.
    this.#link.wantsData(this);
  }

  /** For the connection: it is over. */
  receiveLoss(): void {
    if (this.#lost) return;
    this.#lost = true;
    if (!this.destroyed && !this.#peerFinished) this.push(null);
  }

  /** True when nobody takes what is written. */
  get #deaf(): boolean {
    return this.#lost || this.#reset !== undefined;
  }

  override _read(): void {
    this.#link.wantsData(this);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#send(chunk, done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#weFinished = true;
    this.#send(Buffer.alloc(0), done);
  }

  /**
   * Sends bytes when this turn's reads are done. Go's server closes its socket at the end of a command, also when there
   * is input left, which resets the connection: a write then fails, and with it Node drops what it has not read yet,
   * the exit status. In this order the reset of the stream is mostly seen first.
   */
  #send(data: Buffer, done: (error?: Error | null) => void): void {
    setImmediate(() => {
      if (this.#deaf || this.destroyed) done();
      else this.#link.sendData(this, data, this.#weFinished, done);
    });
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#link.released(this, !this.#deaf && !(this.#peerFinished && this.#weFinished));
    done(error);
  }
}
