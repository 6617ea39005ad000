import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, unlink } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** Replaces a closed segment by its gzip form; a crash in between leaves the plain one. */
export async function compressSegment(path: string): Promise<void> {
  const partial = `${path}.gz.tmp`;
  try {
    await pipeline(createReadStream(path), createGzip({ level: 3 }), createWriteStream(partial, { mode: 0o600 }));
  } catch (error) {
    // The segment may have gone before its turn came; half of a form of it is of no use.
    await rm(partial, { force: true });
    throw error;
  }
  await rename(partial, `${path}.gz`);
  await unlink(path);
}
