import { readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { makeFolder } from '../volumes/make-folder.ts';
import { contextOption } from '../../../machines/volumes/selinux-label.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ignoring } from '../../host/files/host-failure.ts';
import { mount, mountOn } from '../../host/files/mounts.ts';
import { isThere, namesIn } from '../../host/files/what-is-there.ts';
import { formatAndMount } from '../../host/volumes/disk-commands.ts';
import { giveToGroup } from '../../host/volumes/fs-group.ts';
import { quietly } from '../../host/volumes/ownership-watch.ts';
import { cleanMountPoint } from '../volumes/clean-mount-point.ts';
import { mountRefs } from '../volumes/mount-refs.ts';
import { joined } from '../volumes/plugins/local.ts';
import { VolumeFailure, volumeFailure } from '../volumes/volume-plugin.ts';
import type { MappedVolume, PublishCall, VolumeSpec } from '../volumes/volume-plugin.ts';

/** Kubelet's folders of one such plugin, below its root: where file systems are mounted, and where block volumes have one entry for each pod. */
export function pluginFolders(rootDir: string, plugin: string): { mounts: string; maps: string } {
  const mounts = join(rootDir, 'plugins', plugin);
  return { mounts, maps: join(mounts, 'volumeDevices') };
}

/** How kubelet calls what failed before there was anything of a volume to make ready. */
export function notBegun(mode: VolumeSpec['mode']): string {
  const step = mode === 'Block' ? 'MapVolume.NewBlockVolumeMapper' : 'MountVolume.NewMounter';
  return `${step} initialization failed`;
}

/** How it calls that the disk itself was not to be had. */
export function notAttached(mode: VolumeSpec['mode']): string {
  return `${mode === 'Block' ? 'MapVolume' : 'MountVolume'}.WaitForAttach failed`;
}

/** Mounts a disk once for all pods, formatted when it has nothing on it (kubelet: MountDevice); once it is mounted nothing is done. */
export async function mountDisk(
  device: string,
  path: string,
  { fsType, spec, seLinuxLabel = '' }: { fsType: string; spec: VolumeSpec; seLinuxLabel: string | undefined },
): Promise<void> {
  if ((await mountOn(path)) !== undefined) return;
  await makeFolder(path);
  const label = seLinuxLabel === '' ? [] : [contextOption(seLinuxLabel)];
  await formatAndMount(device, path, fsType, joined([...(spec.readOnly ? ['ro'] : []), ...label], spec.pv));
}

/** Puts a disk that is mounted at `source` into a pod (kubelet: diskSetUp). */
export async function bindDisk(source: string, call: PublishCall, log: Logger): Promise<string> {
  const { spec, path, fsGroup, fsGroupChangePolicy, ownership } = call;
  if ((await mountOn(path)) !== undefined) return path;
  await makeFolder(path);
  try {
    await mount(source, path, '', joined(['bind', ...(spec.readOnly ? ['ro'] : [])], spec.pv));
  } catch (error) {
    await cleanMountPoint(path);
    throw error;
  }
  if (!spec.readOnly)
    await giveToGroup(path, fsGroup, fsGroupChangePolicy, log, quietly(ownership)).catch((error: unknown) =>
      log.error({ path, err: messageOf(error) }, 'Cannot give a volume to the fsGroup'),
    );
  return path;
}

/** No pod has the block volume whose folder this is: rejects in kubelet's words where one does. @param own names in it that are no pod's */
export async function refuseMapped(folder: string, own: readonly string[]): Promise<void> {
  const pods = (await namesIn(folder)).filter((name) => !own.includes(name));
  if (pods.length === 0) return;
  const text = `the device "${folder}" is still referenced from other Pods [${pods.join(' ')}]`;
  throw new VolumeFailure('DeviceInUse', text, { what: 'UnmapDevice failed' });
}

/**
 * Which of a plugin's folders a mount in a pod's is of; '' when nothing is mounted there, null when it cannot be told (kubelet: ConstructVolumeSpec).
 */
export async function mountedFrom(mounts: string, path: string): Promise<string | null> {
  if ((await mountOn(path)) === undefined) return '';
  const refs = await mountRefs(path);
  return refs.find((ref) => ref.startsWith(`${mounts}/`)) ?? null;
}

/**
 * In which of these folders a pod has a block volume; '' when in none (kubelet: FindGlobalMapPathUUIDFromPod). A pod with several is told by the device
 * that the link in its own folder leads to.
 */
export async function mappedIn(folders: readonly string[], { podUid, path }: NonNullable<MappedVolume['from']>) {
  const found: string[] = [];
  for (const folder of folders) if (await isThere(join(folder, podUid))) found.push(folder);
  if (found.length === 0) return '';
  const target = await ignoring(readlink(path), 'ENOENT', 'ENOTDIR', 'EINVAL');
  const device = target === undefined ? undefined : await deviceOf(target);
  for (const folder of found) {
    const entry = join(folder, podUid);
    if (target === entry || (device !== undefined && device === (await deviceOf(entry)))) return folder;
  }
  // The device has gone, and with it what the link led to.
  return device === undefined && found.length === 1 ? (found[0] ?? '') : '';
}

/** Number of the device that a file stands for; undefined when it stands for none. */
async function deviceOf(path: string): Promise<number | undefined> {
  const found = await ignoring(stat(path), 'ENOENT', 'ENOTDIR', 'ENXIO');
  return found?.isBlockDevice() === true ? found.rdev : undefined;
}

/** Runs a step of letting go; a failure that has no words of its own gets these in front, and `code` where it has none. */
export async function saying(code: string, what: string, step: () => Promise<unknown>): Promise<void> {
  try {
    await step();
  } catch (error) {
    if (error instanceof VolumeFailure) throw error;
    throw volumeFailure(error, code, { text: `${what}\nError: ${messageOf(error)}` });
  }
}
