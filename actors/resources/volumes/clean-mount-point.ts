import { rmdir } from 'node:fs/promises';
import { ignoring } from '../../host/files/host-failure.ts';
import { mountOn, runCommand, unmount } from '../../host/files/mounts.ts';

/**
 * Unmounts what is mounted at `path` and removes the folder, which is never emptied: what is in it may be somebody's data (kubelet:
 * CleanupMountPoint). Not there is fine.
 *
 * @param forceAfterMs for a file server that may be dead: how long an ordinary umount may take before it is forced
 */
export async function cleanMountPoint(path: string, forceAfterMs?: number): Promise<void> {
  while ((await mountOn(path)) !== undefined) {
    if (forceAfterMs === undefined) await unmount(path);
    else await unmountOrForce(path, forceAfterMs);
  }
  await ignoring(rmdir(path), 'ENOENT', 'ENOTDIR');
}

async function unmountOrForce(path: string, afterMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => (timer = setTimeout(() => resolve('late'), afterMs)));
  const ended = unmount(path);
  try {
    if ((await Promise.race([ended, late])) !== 'late') return;
  } finally {
    clearTimeout(timer);
  }
  ended.catch(() => undefined);
  await runCommand('umount', 'Unmount', 'Unmounting', ['-f', path]);
}
