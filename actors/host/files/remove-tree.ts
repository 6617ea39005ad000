import { lstat, readdir, rmdir, unlink } from 'node:fs/promises';
import { ActorletError } from '../../../machines/errors/define.ts';
import { hostErrors } from '../../../machines/errors/host-errors.ts';
import { ignoring } from './host-failure.ts';
import { mountsIn } from './mounts.ts';

/**
 * Removes `root` with all that is in it, never following a link and never entering another file system: the data
 * of a volume that could not be unmounted must survive the clean-up of its pod.
 *
 * @throws ActorletError HOST007 when something is mounted at or below `root`, HOST011 at a foreign device
 */
export async function removeTree(root: string): Promise<void> {
  const info = await ignoring(lstat(root), 'ENOENT');
  if (info === undefined) return;
  const left = (await mountsIn(root)).map((entry) => entry.mountPoint);
  if (left.length > 0) throw new ActorletError(hostErrors.stillMounted, { path: root, mounts: left.join(', ') });
  if (info.isDirectory()) await removeDirectory(Buffer.from(root), info.dev, root);
  else await ignoring(unlink(root), 'ENOENT');
}

/** Paths are bytes here: a container may leave names that are no UTF-8, and they must go as well. */
async function removeDirectory(path: Buffer, dev: number, root: string): Promise<void> {
  const info = await ignoring(lstat(path), 'ENOENT');
  if (info === undefined) return;
  if (info.dev !== dev) throw new ActorletError(hostErrors.crossesDevice, { path: path.toString(), root });
  for (const entry of await readdir(path, { withFileTypes: true, encoding: 'buffer' })) {
    const child = Buffer.concat([path, Buffer.from('/'), entry.name]);
    if (entry.isDirectory()) await removeDirectory(child, dev, root);
    else await ignoring(unlink(child), 'ENOENT');
  }
  await ignoring(rmdir(path), 'ENOENT');
}
