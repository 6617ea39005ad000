import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import type { OnLine } from './line-splitter.ts';
import { LineSplitter } from './line-splitter.ts';

const CHUNK = 256 * 1024;
/** Longest time that reading holds up the thread, which answers requests too. */
const SLICE_MS = 20;

/** Reads one segment, from where it ended the last time. */
export class SegmentFeed {
  readonly path: string;
  private readonly lines = new LineSplitter();
  private fd: number | null = null;
  private chunk: Buffer | null = null;

  constructor(path: string) {
    this.path = path;
  }

  /** Bytes behind the last whole line. */
  get openBytes(): number {
    return this.lines.openBytes;
  }

  /**
   * Hands over all whole lines that have come. The file stays open, so that a segment which the agent replaces by its
   * compressed form can be read to its end. What `onLine` throws ends the reading.
   * @throws Error ENOENT when the segment is gone and was never open
   */
  async read(onLine: OnLine): Promise<void> {
    if (this.path.endsWith('.gz')) return this.readCompressed(onLine);
    this.fd ??= openSync(this.path, 'r');
    this.chunk ??= Buffer.allocUnsafe(CHUNK);
    let began = performance.now();
    for (;;) {
      const read = readSync(this.fd, this.chunk, 0, CHUNK, this.lines.offset);
      if (read === 0) return;
      this.lines.push(this.chunk.subarray(0, read), onLine);
      if (performance.now() - began < SLICE_MS) continue;
      await turn();
      began = performance.now();
    }
  }

  close(): void {
    if (this.fd !== null) closeSync(this.fd);
    this.fd = null;
    this.chunk = null;
  }

  private async readCompressed(onLine: OnLine): Promise<void> {
    const raw = createReadStream(this.path, { highWaterMark: CHUNK });
    const plain = raw.pipe(createGunzip({ chunkSize: CHUNK }));
    raw.on('error', (error) => plain.destroy(error));
    try {
      for await (const chunk of plain) this.lines.push(chunk as Buffer, onLine);
    } finally {
      raw.destroy();
      plain.destroy();
    }
  }
}
