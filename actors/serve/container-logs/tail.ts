/** Reads up to `length` bytes at `position` into the start of `buffer`; 0 at the end. */
export type ReadAt = (buffer: Buffer, length: number, position: number) => Promise<number>;

/**
 * Where the last `lines` lines of a file begin, reading backwards in blocks. A last line without newline is not counted
 * and comes on top.
 * @param size bytes of the file
 */
export async function tailStart(read: ReadAt, size: number, lines: number, blockSize = 64 * 1024): Promise<number> {
  const buffer = Buffer.allocUnsafe(Math.min(blockSize, Math.max(size, 1)));
  // The newline before the wanted lines ends the search.
  let missing = lines + 1;
  for (let right = size; right > 0;) {
    const left = Math.max(0, right - buffer.length);
    await readFully(read, buffer, right - left, left);
    for (let at = right - left; at > 0;) {
      const newline = buffer.subarray(0, at).lastIndexOf(0x0a);
      if (newline < 0) break;
      if (--missing <= 0) return left + newline + 1;
      at = newline;
    }
    right = left;
  }
  return 0;
}

async function readFully(read: ReadAt, buffer: Buffer, length: number, position: number): Promise<void> {
  let done = 0;
  while (done < length) {
    const count = await read(buffer.subarray(done), length - done, position + done);
    // The file became shorter: what is not there has no newline.
    if (count === 0) {
      buffer.fill(0, done, length);
      return;
    }
    done += count;
  }
}
