/** Takes one line (without its newline) and the offset of its first byte. The bytes are valid during the call only. */
export type OnLine = (line: Buffer, offset: number) => void;

/** Cuts a stream of bytes into lines and knows where each begins. A line may be longer than any chunk. */
export class LineSplitter {
  private rest: Buffer[] = [];
  private restBytes = 0;
  /** Offset of the next byte that is pushed. */
  offset = 0;

  /** Bytes at the end that no newline has ended yet. */
  get openBytes(): number {
    return this.restBytes;
  }

  push(chunk: Buffer, onLine: OnLine): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const tail = chunk.subarray(start, end);
      const began = this.offset + start - this.restBytes;
      const line = this.restBytes === 0 ? tail : Buffer.concat([...this.rest, tail]);
      this.rest = [];
      this.restBytes = 0;
      start = end + 1;
      if (line.length > 0) onLine(line, began);
    }
    if (start < chunk.length) {
      // A copy: the reader may use the chunk's memory again.
      this.rest.push(Buffer.from(chunk.subarray(start)));
      this.restBytes += chunk.length - start;
    }
    this.offset += chunk.length;
  }
}
