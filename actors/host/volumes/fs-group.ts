import { stat } from 'node:fs/promises';
import type { Logger } from 'pino';
import { ignoring } from '../files/host-failure.ts';
import type { OwnershipWatch } from './ownership-watch.ts';
import { setVolumeOwnership } from './volume-ownership.ts';

/**
 * Gives a volume that others filled to the pod's `fsGroup`. With `fsGroupChangePolicy: OnRootMismatch` only when its root is not theirs already
 * (owner group, setgid, and all that the group must be allowed).
 */
export async function giveToGroup(
  dir: string,
  fsGroup: number | undefined,
  policy: string | undefined,
  log: Logger,
  watch: OwnershipWatch,
): Promise<void> {
  if (fsGroup === undefined) return;
  if (policy === 'OnRootMismatch' && (await isGroups(dir, fsGroup))) return;
  await setVolumeOwnership(dir, fsGroup, false, log, watch);
}

async function isGroups(dir: string, fsGroup: number): Promise<boolean> {
  const info = await ignoring(stat(dir), 'ENOENT', 'EACCES');
  if (info === undefined || !info.isDirectory() || info.gid !== fsGroup) return false;
  return (info.mode & 0o770) === 0o770 && (info.mode & 0o2000) !== 0;
}
