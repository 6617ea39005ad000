import { closeSync, constants, fstatSync, openSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ERRNO_WORDS } from '../../host/files/errno-words.ts';
import { codeOf } from '../../host/files/host-failure.ts';

/** A file that cannot be had, in Go's words: `openat a/b: no such file or directory`. */
export class RootError extends Error {
  /** Is there no such file? */
  readonly absent: boolean;

  constructor(call: string, name: string, reason: string, absent = false) {
    super(`${call} ${name}: ${reason}`);
    this.absent = absent;
  }
}

/**
 * Opens a file below `root` for reading and never one outside, wherever links lead (as Go's `os.OpenInRoot`). The
 * caller closes it.
 * @param call word for messages: `openat` or `statat`
 * @throws RootError
 */
export function openInRoot(root: string, name: string, call = 'openat'): number {
  if (name.includes('\0')) throw new RootError(call, name, 'invalid argument');
  if (leaves(name)) throw new RootError(call, name, 'path escapes from parent');
  let fd: number;
  try {
    fd = openSync(join(root, name), constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = codeOf(error);
    throw new RootError(call, name, ERRNO_WORDS[code] ?? String(error), code === 'ENOENT');
  }
  try {
    // What was opened is asked, not the path once more, which could be another one by now.
    const real = readlinkSync(`/proc/self/fd/${fd}`);
    const inside = realpathSync(root);
    if (real !== inside && !real.startsWith(inside === '/' ? '/' : `${inside}/`))
      throw new RootError(call, name, 'path escapes from parent');
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** The error of looking at a file below `root` as `os.Root.Stat` does, '' when it is there. */
export function statInRoot(root: string, name: string): string {
  try {
    closeSync(openInRoot(root, name, 'statat'));
    return '';
  } catch (error) {
    return messageOf(error);
  }
}

/** Is the open file a folder? */
export function isFolder(fd: number): boolean {
  return fstatSync(fd).isDirectory();
}

/** Does a path go above where it starts? */
function leaves(name: string): boolean {
  if (name.startsWith('/')) return true;
  let depth = 0;
  for (const part of name.split('/')) {
    if (part === '..') depth--;
    else if (part !== '' && part !== '.') depth++;
    if (depth < 0) return true;
  }
  return false;
}
