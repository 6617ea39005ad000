import { constants } from 'node:fs';
import { access, lstat, readdir } from 'node:fs/promises';
import { codeOf, ignoring } from './host-failure.ts';

/** What is in a folder, in the order of the alphabet; nothing where there is none. */
export async function namesIn(folder: string): Promise<string[]> {
  return ((await ignoring(readdir(folder), 'ENOENT', 'ENOTDIR')) ?? []).sort();
}

/** Is there anything of this name? */
export async function isThere(path: string): Promise<boolean> {
  return (await ignoring(lstat(path), 'ENOENT', 'ENOTDIR')) !== undefined;
}

/** Is this on a read-only file system? Not what is not there. */
export async function isReadOnly(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => false,
    (error: unknown) => codeOf(error) === 'EROFS',
  );
}
