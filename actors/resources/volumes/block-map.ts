import { lstat, open, readdir, readlink, realpath, rm, rmdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from './make-folder.ts';
import { goQuote } from '../../../machines/values/go-quote.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { detachLoopsOf } from '../../host/files/loop-devices.ts';
import { ignoring } from '../../host/files/host-failure.ts';
import { mount, mountOn, unmount } from '../../host/files/mounts.ts';
import { removeEmpty } from './volume-folders.ts';
import { VolumeFailure } from './volume-plugin.ts';

/** Where a block volume of a pod is to be found. */
export interface BlockMap {
  podUid: string;
  /** Folder with one bind mount of the device for each pod. */
  globalPath: string;
  /** Below the pod's folder: a link to the device. */
  linkPath: string;
}

/**
 * Has the pod's folder name a volume that is about to be put there: what an agent that dies meanwhile has left is found by this. Answers whether it
 * did not before. The link leads nowhere until there is a device.
 */
export async function nameBlockVolume({ podUid, globalPath, linkPath }: BlockMap): Promise<boolean> {
  if ((await ignoring(lstat(linkPath), 'ENOENT', 'ENOTDIR')) !== undefined) return false;
  await makeFolder(dirname(linkPath));
  await symlink(join(globalPath, podUid), linkPath);
  return true;
}

/** The pod's folder names it no more: nothing of it is left. */
export async function unnameBlockVolume(linkPath: string): Promise<void> {
  await rm(linkPath, { force: true });
  await removeEmpty(dirname(linkPath));
  await removeEmpty(dirname(dirname(linkPath)));
}

/**
 * Has containers find a device, laid out as kubelet does (MapBlockVolume): a bind mount of it under the pod's UID, by which it is seen that it is in use,
 * and a link below the pod's folder, which the runtime is given. Kubelet also holds a loop device on it; that keeps nothing from going away that the
 * mount does not, and is only taken away here.
 */
export async function mapBlockVolume(devicePath: string, { podUid, globalPath, linkPath }: BlockMap): Promise<void> {
  const device = await realpath(devicePath).catch((error: unknown) => {
    const what = 'MapVolume.EvalHostSymlinks failed';
    throw new VolumeFailure('FailedMapVolume', messageOf(error), { what, done: false, cause: error });
  });
  await makeFolder(globalPath);
  const bound = join(globalPath, podUid);
  if ((await mountOn(bound)) === undefined) {
    // A link is what kubelet made before 1.19.
    await rm(bound, { force: true });
    await (await open(bound, 'a', 0o640)).close();
    await mount(device, bound, '', ['bind']);
  }
  if ((await ignoring(readlink(linkPath), 'ENOENT', 'EINVAL')) === device) return;
  await rm(linkPath, { force: true });
  await symlink(device, linkPath);
}

/** What the pod's events say of a volume that was put there (kubelet tells both halves, in these words). */
export function mappedWords(name: string, { globalPath, linkPath }: BlockMap): string[] {
  const words = `MapVolume.MapPodDevice succeeded for volume ${goQuote(name)}`;
  return [`${words} globalMapPath ${goQuote(globalPath)}`, `${words} volumeMapPath ${goQuote(dirname(linkPath))}`];
}

/**
 * Takes the bind mount away; what is not there is fine. Kubelet removes the link before that. Here it stays until the plugin has taken the device
 * from the pod as well: an agent that dies in between would never find that again.
 */
export async function unmapBlockVolume({ podUid, globalPath }: Omit<BlockMap, 'linkPath'>): Promise<void> {
  const bound = join(globalPath, podUid);
  await detachLoopsOf(bound);
  if ((await mountOn(bound)) !== undefined) await unmount(bound);
  if ((await ignoring(lstat(bound), 'ENOENT', 'ENOTDIR')) !== undefined) await rm(bound, { force: true });
}

/** Removes the folder of a device that no pod has any more. */
export async function removeMapFolder(globalPath: string): Promise<void> {
  const left = (await ignoring(readdir(globalPath), 'ENOENT', 'ENOTDIR')) ?? null;
  if (left === null) return;
  if (left.length > 0) throw new VolumeFailure('DeviceInUse', `${globalPath} still holds ${left.join(', ')}`);
  await ignoring(rmdir(globalPath), 'ENOENT');
}
