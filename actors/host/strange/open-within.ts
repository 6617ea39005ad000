import { constants } from 'node:fs';
import { lstat, mkdir, open, realpath } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { HostFailure, ignoring } from '../files/host-failure.ts';

/** Linux O_PATH (the same on x86-64 and arm64), which Node does not name: never blocks on a FIFO, opens no device. */
export const O_PATH = 0o10000000;
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/** Opens `<volume>/<subPath>` and makes what is missing; the handle is proof against links changed meanwhile. */
export async function openWithin(volumePath: string, subPath: string): Promise<FileHandle> {
  const base = await realpath(volumePath);
  const parts = subPath.split('/').filter((part) => part !== '' && part !== '.');
  // Links inside of the volume are allowed where they lead to the volume again.
  let existing = base;
  let count = 0;
  for (const part of parts) {
    const next = await ignoring(realpath(join(existing, part)), 'ENOENT');
    if (next === undefined) break;
    existing = next;
    count++;
  }
  const inside = relative(base, existing);
  if (inside === '..' || inside.startsWith('../')) throw new HostFailure('Escape', `${existing} is outside of ${base}`);
  const mode = (await lstat(base)).mode & 0o7777;
  let handle = await open(base, O_RDONLY | O_NOFOLLOW | (parts.length > 0 ? O_DIRECTORY : O_PATH));
  try {
    for (const part of inside.split('/').filter(Boolean)) handle = await step(handle, part, O_PATH | O_NOFOLLOW);
    for (const part of parts.slice(count)) {
      await mkdir(`/proc/self/fd/${handle.fd}/${part}`, { mode });
      handle = await step(handle, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      await handle.chmod(mode);
    }
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** openat(2) by way of /proc: the magic link leads to the open folder itself, whatever its path says by now. */
export async function step(parent: FileHandle, name: string, flags: number): Promise<FileHandle> {
  const child = await open(`/proc/self/fd/${parent.fd}/${name}`, flags);
  if ((await child.stat()).isSymbolicLink()) {
    await child.close();
    throw new HostFailure('Escape', `unexpected symlink found ${name}`);
  }
  await parent.close();
  return child;
}
