import { constants } from 'node:fs';
import { lstat, open, readlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { HostFailure, codeOf } from '../files/host-failure.ts';
import { O_PATH, step } from '../strange/open-within.ts';

const { O_RDONLY, O_DIRECTORY, O_NONBLOCK } = constants;

/** Links that are followed in one path. */
const MAX_LINKS = 255;

/**
 * Where a path leads in a volume, as if the volume were the whole file system: links and `..` never leave `root`. A part
 * that is not there is taken as it stands. Kubelet finds env files so (`filepath-securejoin`), and names in its messages
 * what comes of it.
 *
 * @throws HostFailure in the words of Go
 */
export async function joinInVolume(root: string, path: string): Promise<string> {
  let inside: string[] = [];
  let rest = path;
  let links = 0;
  while (rest !== '') {
    const slash = rest.indexOf('/');
    const part = slash < 0 ? rest : rest.slice(0, slash);
    rest = slash < 0 ? '' : rest.slice(slash + 1);
    if (part === '' || part === '.') continue;
    if (part === '..') {
      inside.pop();
      continue;
    }
    const next = [...inside, part];
    const target = await linkAt(`${root}//${next.join('/')}`);
    if (target === null) {
      inside = next;
      continue;
    }
    if (++links > MAX_LINKS)
      throw new HostFailure('ELOOP', `SecureJoin ${root}/${path}: too many levels of symbolic links`);
    rest = `${target}/${rest}`;
    if (target.startsWith('/')) inside = [];
  }
  return join(root, ...inside);
}

/** Where a link leads; null for anything else, also for what is not there. */
async function linkAt(path: string): Promise<string | null> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : null;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    if (code === 'ENAMETOOLONG') throw new HostFailure(code, `lstat ${path}: file name too long`, { cause: error });
    throw error;
  }
}

/**
 * Opens a regular file in a volume for reading, by the path that {@link joinInVolume} found. What the containers of the
 * pod may have put there since cannot mislead it: a link on the way is refused, a FIFO, a socket or a device is never
 * opened, and a lease that a process holds on the file makes it fail, not wait. The caller closes the handle.
 */
export async function openRegular(root: string, found: string): Promise<FileHandle> {
  let handle = await open(root, O_RDONLY | O_DIRECTORY);
  try {
    for (const part of found.slice(join(root).length).split('/').filter(Boolean))
      handle = await step(handle, part, O_PATH | constants.O_NOFOLLOW);
    if (!(await handle.stat()).isFile()) throw new HostFailure('NotAFile', `${found} is not a regular file`);
    // The magic link opens what was looked at, whatever has its name by now.
    return await open(`/proc/self/fd/${handle.fd}`, O_RDONLY | O_NONBLOCK);
  } finally {
    await handle.close();
  }
}
