import { createReadStream, createWriteStream } from 'node:fs';
import { rename, unlink } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** Replaces a closed segment by its gzip form; a crash in between leaves the plain one. */
export async function compressSegment(path: string): Promise<void> {
  const partial = `${path}.gz.tmp`;
  await pipeline(createReadStream(path), createGzip({ level: 3 }), createWriteStream(partial, { mode: 0o600 }));
  await rename(partial, `${path}.gz`);
  await unlink(path);
}
