import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pack } from 'tar-stream';

/** What stands at a path of an image, which has no leading slash. */
export type Entry =
  | { path: string; content: Buffer | string; mode?: number }
  | { path: string; link: string }
  /** A folder that has a mode of its own, or nothing in it. */
  | { path: string; folder: number };

/**
 * The layer (uncompressed tar) of these entries and the folders that lead to them. All is root's, has the time `at`, and is in the order of
 * its path, folders first; files have the mode 644 unless they say another. The same entries give the same bytes.
 */
export async function layerTar(entries: readonly Entry[], at: Date): Promise<Buffer> {
  const all = new Map<string, Entry>();
  for (const entry of entries) {
    for (let folder = dirname(entry.path); folder !== '.'; folder = dirname(folder))
      if (!all.has(folder)) all.set(folder, { path: folder, folder: 0o755 });
    all.set(entry.path, entry);
  }
  const tar = pack();
  const done = buffer(tar);
  const common = { uid: 0, gid: 0, uname: 'root', gname: 'root', mtime: at };
  for (const entry of [...all.values()].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    if ('folder' in entry) tar.entry({ ...common, name: `${entry.path}/`, mode: entry.folder, type: 'directory' });
    else if ('link' in entry)
      tar.entry({ ...common, name: entry.path, mode: 0o777, type: 'symlink', linkname: entry.link });
    else tar.entry({ ...common, name: entry.path, mode: entry.mode ?? 0o644 }, entry.content);
  }
  tar.finalize();
  return done;
}

/** The files below a folder, at the same places below `to`. Throws for what is neither file nor folder. */
export function filesBelow(folder: string, to: string): Extract<Entry, { content: unknown }>[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const file = join(folder, name);
    const kind = lstatSync(file);
    if (kind.isDirectory()) return [];
    if (!kind.isFile()) throw new Error(`${file} is neither a file nor a folder`);
    return [{ path: join(to, name), content: readFileSync(file) }];
  });
}
