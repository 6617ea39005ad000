import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';

const BLOCK = 1 << 18;

/** A stream of `bytes` bytes that do not repeat, and the checksum of them all, known when it has been read. */
export function noise(bytes: number): { stream: Readable; sha256: () => string } {
  const hash = createHash('sha256');
  const base = randomBytes(BLOCK);
  let sent = 0;
  let count = 0;
  const stream = new Readable({
    highWaterMark: BLOCK,
    read() {
      if (sent >= bytes) {
        this.push(null);
        return;
      }
      const block = Buffer.from(base.subarray(0, Math.min(BLOCK, bytes - sent)));
      // each block is another one
      if (block.length >= 4) block.writeUInt32LE(count++, 0);
      sent += block.length;
      hash.update(block);
      this.push(block);
    },
  });
  return { stream, sha256: () => hash.digest('hex') };
}
