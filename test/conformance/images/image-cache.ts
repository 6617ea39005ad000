import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, mkdir, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { imageArchive } from '../../../cri/image-maker/image-archive.ts';
import type { ImageSource } from '../../../cri/image-maker/image-archive.ts';

/** Path of an archive in the cache, made unless it is there. */
export async function keptArchive(name: string, images: () => Promise<ImageSource[]>): Promise<string> {
  const archive = join(cacheDir(), name);
  const present = await access(archive).then(
    () => true,
    () => false,
  );
  if (present) return archive;
  await mkdir(dirname(archive), { recursive: true });
  const unfinished = `${archive}.${process.pid}`;
  await writeFile(unfinished, await imageArchive(await images()));
  await rename(unfinished, archive);
  return archive;
}

/** Of the sources' content, and of those files of this folder which say what is made of it. */
export async function fingerprint(sources: readonly string[], makers: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  const here = makers.map((name) => fileURLToPath(new URL(name, import.meta.url)));
  for (const file of [...sources, ...here])
    for await (const piece of createReadStream(file)) hash.update(piece as Buffer);
  return hash.digest('hex').slice(0, 16);
}

function cacheDir(): string {
  const base =
    process.env['ACTORLET_CACHE'] ?? join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'actorlet');
  return join(base, 'images');
}
