import { chmod, lchown, lstat, readdir } from 'node:fs/promises';
import type { Logger } from 'pino';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { HostSettings } from '../files/host-settings.ts';
import { watched } from './ownership-watch.ts';
import type { OwnershipWatch } from './ownership-watch.ts';

/**
 * Gives a volume to the pod's `fsGroup`, as `securityContext.fsGroup` documents it: group ownership and group
 * permissions for every file, setgid on folders so that new files inherit the group. Children go before their
 * folder. A file that cannot be changed is logged and passed over, as the kubelet does.
 *
 * @param readOnly grants only reading (downwardAPI, configMap, secret)
 */
export async function setVolumeOwnership(
  dir: string,
  gid: number,
  readOnly: boolean,
  log: Logger,
  watch: OwnershipWatch,
): Promise<void> {
  await watched(dir, watch, log, (passed) => apply(Buffer.from(dir), { gid, readOnly, log, passed }));
}

/** The agent's own volumes are only measured. @param plugin as kubelet names it */
export function toldOwnership(
  podUid: string,
  plugin: string,
  { onVolume }: Pick<HostSettings, 'onVolume'>,
): OwnershipWatch {
  return { podUid, over: (seconds, failed) => onVolume?.({ did: 'ownership', plugin, seconds, failed }) };
}

/** For chown(2): that one stays. */
const AS_IT_IS = -1;

interface Change {
  gid: number;
  readOnly: boolean;
  log: Logger;
  passed: () => void;
}

async function apply(path: Buffer, change: Change): Promise<void> {
  const { gid, readOnly, log, passed } = change;
  const info = await lstat(path);
  if (info.isDirectory()) {
    for (const name of await readdir(path, { encoding: 'buffer' })) {
      await apply(Buffer.concat([path, Buffer.from('/'), name]), change);
    }
  }
  passed();
  const tell = (error: unknown): void =>
    log.error({ path: path.toString(), err: messageOf(error) }, 'Cannot give a volume file to the fsGroup');
  // Only the group: a file's owner may be one that cannot be named here (a user namespace, a server that maps users).
  await lchown(path, AS_IT_IS, gid).catch(tell);
  // chmod would go through a link to its target, whose mode is not ours to change.
  if (info.isSymbolicLink()) return;
  const mask = (readOnly ? 0o440 : 0o660) | (info.isDirectory() ? 0o2110 : 0);
  // Also where the group is not theirs: the file may be theirs by another one.
  await chmod(path, (info.mode & 0o7777) | mask).catch(tell);
}
