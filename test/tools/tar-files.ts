import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { extract } from 'tar-stream';

/** The files of a tar, by their names. */
export async function tarFiles(tar: Buffer): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for await (const entry of Readable.from([tar]).pipe(extract())) files.set(entry.header.name, await buffer(entry));
  return files;
}
