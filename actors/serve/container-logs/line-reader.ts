import { read } from 'node:fs';

const BLOCK_BYTES = 64 * 1024;
const SMALL_BYTES = 4 * 1024;

/** Reads up to `length` bytes of an open file at `position`; 0 at its end. Rejects with what the system says. */
export function readAt(fd: number, buffer: Buffer, length: number, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, buffer, 0, length, position, (error, count) => {
      if (error === null) resolve(count);
      else reject(error);
    });
  });
}

/** Takes a file apart into lines, block by block; of a line that is not ended yet the rest is kept. */
export class LineReader {
  #fd: number;
  /** Where the next block begins. */
  #position: number;
  #buffer = Buffer.alloc(0);
  /** The bytes from `#from` to `#to` are read and not yet taken; none of them before `#searched` is a newline. */
  #from = 0;
  #to = 0;
  #searched = 0;
  #nextBlock: number;

  constructor(fd: number, position: number, small: boolean) {
    this.#fd = fd;
    this.#position = position;
    this.#nextBlock = small ? SMALL_BYTES : BLOCK_BYTES;
  }

  /** Bytes of the file that were read. */
  get position(): number {
    return this.#position;
  }

  /** Reads one more block. False at the end of the file, as it is now. */
  async fill(): Promise<boolean> {
    this.#makeRoom();
    const room = Math.min(this.#buffer.length - this.#to, BLOCK_BYTES);
    const target = this.#buffer.subarray(this.#to, this.#to + room);
    const count = await readAt(this.#fd, target, room, this.#position);
    this.#position += count;
    this.#to += count;
    // Who writes a whole small block between two looks writes a lot.
    this.#nextBlock = count === room ? BLOCK_BYTES : SMALL_BYTES;
    return count > 0;
  }

  /** Hands all whole lines that were read to `take`, until it returns false. */
  lines(take: (bytes: Buffer, from: number, to: number) => boolean): void {
    for (;;) {
      const newline = this.#searched < this.#to ? this.#buffer.indexOf(0x0a, this.#searched) : -1;
      if (newline < 0 || newline >= this.#to) {
        this.#searched = this.#to;
        return;
      }
      const from = this.#from;
      this.#from = this.#searched = newline + 1;
      if (!take(this.#buffer, from, newline + 1)) return;
    }
  }

  /** The last line, when it has no newline; it is taken with that. */
  rest(): Buffer | undefined {
    const rest = this.#buffer.subarray(this.#from, this.#to);
    this.#from = this.#searched = this.#to;
    return rest.length === 0 ? undefined : rest;
  }

  /** Gives the buffer back while there is nothing to read; the begun line stays. */
  release(): void {
    const rest = Buffer.from(this.#buffer.subarray(this.#from, this.#to));
    this.#buffer = rest;
    this.#searched = this.#to = rest.length;
    this.#from = 0;
    this.#nextBlock = SMALL_BYTES;
  }

  /** Goes on with another file, from its start; a begun line of the old one is dropped. */
  switchTo(fd: number): void {
    this.#fd = fd;
    this.#position = 0;
    this.#from = this.#to = this.#searched = 0;
  }

  #makeRoom(): void {
    const kept = this.#to - this.#from;
    const wanted = kept + this.#nextBlock;
    if (this.#buffer.length < wanted) {
      // A line longer than a block: grow in big steps, so that its bytes are not copied again for each block.
      const size = kept > BLOCK_BYTES ? Math.max(wanted, kept * 2) : wanted;
      const larger = Buffer.allocUnsafeSlow(size);
      this.#buffer.copy(larger, 0, this.#from, this.#to);
      this.#buffer = larger;
    } else if (this.#from > 0) {
      this.#buffer.copy(this.#buffer, 0, this.#from, this.#to);
    } else return;
    this.#searched -= this.#from;
    this.#from = 0;
    this.#to = kept;
  }
}
