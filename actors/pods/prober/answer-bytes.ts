import type { Socket } from 'node:net';

const LF = 10;

/** The peer closed the connection where more was due. */
export class EndOfStream extends Error {
  constructor() {
    super('unexpected EOF');
  }
}

/** Bytes that gather, in a buffer that grows as Go's slices do: many small pieces must not be kept as many objects. */
export class Gathered {
  #bytes = Buffer.alloc(0);
  #length = 0;

  add(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (length > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(length, 2 * this.#bytes.length, 256));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    piece.copy(this.#bytes, this.#length);
    this.#length = length;
  }

  get length(): number {
    return this.#length;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }
}

/**
 * What a peer sends, taken from its socket bit by bit: what nobody asks for stays in the kernel, so a peer that sends for ever costs
 * no memory. All functions reject with what the socket failed of, once; what came before that is given out first.
 */
export class AnswerBytes {
  #socket: Socket;
  #held: Buffer = Buffer.alloc(0);
  /** What came beyond the limit; it counts when there is none any more. */
  #over: Buffer | null = null;
  #ended = false;
  #failure: Error | undefined;
  #wake: () => void = () => undefined;
  /** Bytes taken from the socket so far. */
  taken = 0;
  /** More than so many bytes are not taken; what runs into it fails with {@link onLimit}. */
  limit = Infinity;
  onLimit: () => Error = () => new Error('too much');

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('readable', () => this.#wake());
    socket.once('end', () => {
      this.#ended = true;
      this.#wake();
    });
    socket.once('error', (error) => {
      this.#failure = error;
      this.#wake();
    });
    socket.once('close', () => {
      if (!this.#ended) this.#failure ??= new Error('closed');
      this.#wake();
    });
  }

  /** The next line with its LF, if all of it is here: most are, and need not be waited for. */
  lineHere(): Buffer | undefined {
    const end = this.#held.indexOf(LF) + 1;
    return end === 0 ? undefined : this.#cut(end);
  }

  /** The next byte, if it is here. */
  byteHere(): number | undefined {
    return this.#held[0];
  }

  /** Has something come, or will nothing come any more (false)? */
  async any(): Promise<boolean> {
    return this.#held.length > 0 || this.#more();
  }

  /** Up to `bytes` of what comes next, which stays there; fewer at the end. */
  async peek(bytes: number): Promise<Buffer> {
    while (this.#held.length < bytes && (await this.#more()));
    return this.#held.subarray(0, bytes);
  }

  /** At least one byte, `most` at most; null at the end. */
  async take(most: number): Promise<Buffer | null> {
    if (!(await this.any())) return null;
    return this.#cut(Math.min(most, this.#held.length));
  }

  /**
   * A line with its LF; without one it is what came before the end (null: nothing), or a line longer than `most`, of which only that
   * much is taken.
   */
  async line(most = Infinity): Promise<Buffer | null> {
    let parts: Gathered | undefined;
    for (;;) {
      if (this.#held.length === 0) {
        let failure: unknown;
        const more = await this.#more().catch((error: unknown) => {
          failure = error;
          return false;
        });
        if (!more) {
          if (parts !== undefined) return parts.bytes;
          if (failure !== undefined) throw failure as Error;
          return null;
        }
      }
      const room = most - (parts?.length ?? 0);
      const end = this.#held.indexOf(LF) + 1;
      const piece = this.#cut(Math.min(end === 0 ? this.#held.length : end, room));
      const done = piece[piece.length - 1] === LF || piece.length === room;
      if (done && parts === undefined) return piece;
      parts ??= new Gathered();
      parts.add(piece);
      if (done) return parts.bytes;
    }
  }

  /** As much of what came as the limit lets through: where that ends within a line, Go looks at the line so far. */
  #next(): Buffer | null {
    const chunk = this.#over ?? (this.#socket.read() as Buffer | null);
    this.#over = null;
    const room = this.limit - this.taken;
    if (chunk === null || chunk.length <= room) return chunk;
    this.#over = chunk.subarray(room);
    return chunk.subarray(0, room);
  }

  #cut(length: number): Buffer {
    const piece = this.#held.subarray(0, length);
    this.#held = this.#held.subarray(length);
    return piece;
  }

  async #more(): Promise<boolean> {
    for (;;) {
      if (this.taken >= this.limit) throw this.onLimit();
      const chunk = this.#next();
      if (chunk !== null) {
        this.taken += chunk.length;
        this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
        return true;
      }
      if (this.#failure !== undefined) {
        // The kernel tells an error once, and an end from then on; so does what Go makes of a reset.
        const failure = this.#failure;
        this.#failure = undefined;
        this.#ended = true;
        throw failure;
      }
      if (this.#ended) return false;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
