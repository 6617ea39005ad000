import { errno } from './disk.ts';
import { onDisk } from './current-disk.ts';

/** `node:fs/promises` over the simulated machine's disk, as far as what makes volumes of claims uses it: the loader maps that module to this one for it. */

/** As Node's. */
export async function mkdir(path: string, _options?: object): Promise<string | undefined> {
  return onDisk((disk) => disk.mkdir(path));
}

/** As Node's. */
export async function writeFile(path: string, text: string, _options?: object): Promise<void> {
  await onDisk((disk) => disk.write(path, text));
}

/** As Node's, for reading, or (`a`) to make a file. */
export async function open(path: string, flags: string, _mode?: number) {
  const text = await onDisk((disk) => {
    if (flags === 'a' && !disk.entries.has(path)) disk.write(path, '');
    const entry = disk.at(path, 'open');
    if (entry.is !== 'file') throw errno('EISDIR', 'open', path);
    return entry.text;
  });
  return {
    read: (buffer: Buffer) => Promise.resolve({ buffer, bytesRead: buffer.write(text) }),
    close: () => Promise.resolve(),
  };
}

/** As Node's. */
export async function readFile(path: string, _encoding?: string): Promise<string> {
  return onDisk((disk) => {
    const entry = disk.at(path, 'open');
    if (entry.is !== 'file') throw errno('EISDIR', 'read', path);
    return entry.text;
  });
}

/** As Node's; with `withFileTypes` what it answers can tell folders. */
export async function readdir(path: string, options: { withFileTypes?: boolean } = {}): Promise<unknown[]> {
  return onDisk((disk) =>
    disk.names(path).map((name) => {
      if (options.withFileTypes !== true) return name;
      return { name, isDirectory: () => disk.entries.get(`${path}/${name}`)?.is === 'folder' };
    }),
  );
}

/** As Node's. */
export async function rmdir(path: string): Promise<void> {
  await onDisk((disk) => disk.rmdir(path));
}

/** As Node's. */
export async function unlink(path: string): Promise<void> {
  await onDisk((disk) => disk.unlink(path));
}

/** As Node's with `force`. */
export async function rm(path: string, _options?: object): Promise<void> {
  await onDisk((disk) => disk.remove(path));
}

/** As Node's, as far as whether it is there. */
export async function lstat(path: string): Promise<{ isDirectory: () => boolean }> {
  return onDisk((disk) => {
    const { is } = disk.at(path, 'lstat');
    return { isDirectory: () => is === 'folder' };
  });
}

/** The same: nobody asks through a link here. */
export const stat = lstat;

/** As Node's; links in the middle of a path are not made here. */
export async function realpath(path: string): Promise<string> {
  return onDisk((disk) => {
    const entry = disk.at(path, 'realpath');
    return entry.is === 'link' ? entry.to : path;
  });
}

/** As Node's. */
export async function readlink(path: string): Promise<string> {
  return onDisk((disk) => {
    const entry = disk.at(path, 'readlink');
    if (entry.is !== 'link') throw errno('EINVAL', 'readlink', path);
    return entry.to;
  });
}

/** As Node's. */
export async function symlink(to: string, path: string): Promise<void> {
  await onDisk((disk) => {
    if (disk.entries.has(path)) throw errno('EEXIST', 'symlink', path);
    disk.at(path.slice(0, path.lastIndexOf('/')), 'symlink');
    disk.entries.set(path, { is: 'link', to });
  });
}

/** As Node's; nothing of it is read-only. */
export async function access(path: string): Promise<void> {
  await onDisk((disk) => void disk.at(path, 'access'));
}
