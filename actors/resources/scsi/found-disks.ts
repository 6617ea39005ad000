import type { PublishedOnDisk, StagedOnDisk, UnpublishCall, VolumeSpec } from '../volumes/volume-plugin.ts';
import { readMounts } from '../../host/files/mountinfo.ts';
import { contextOf } from '../volumes/mount-labels.ts';
import { mappedIn, mountedFrom } from './disk-volume.ts';

/** What an earlier agent has left of a plugin's disks: told by kubelet's folders. */
export interface DiskFolders {
  /** Folder of all that is mounted. */
  readonly mounts: string;
  /** Of the ground: {@link ScsiGround.attachable}. */
  readonly attachable: boolean;
  /** Folders of all volumes of a mode. */
  readonly onDisk: (mode: VolumeSpec['mode']) => Promise<readonly string[]>;
  /** Kubelet's name of the device, as far as the name of a folder tells; null when it is no such name. */
  readonly deviceOf: (folder: string) => string | null;
}

/** See {@link VolumePlugin.publishedOnDisk}. */
export async function publishedDisk(
  { mounts, attachable, onDisk, deviceOf }: DiskFolders,
  { podUid, path, mode }: Omit<UnpublishCall, 'signal'>,
): Promise<PublishedOnDisk | null> {
  const folder =
    mode === 'Block' ? await mappedIn(await onDisk('Block'), { podUid, path }) : await mountedFrom(mounts, path);
  if (folder === '') return { deviceName: '', attachable: false };
  const deviceName = folder === null ? null : deviceOf(folder);
  return deviceName === null ? null : { deviceName, attachable };
}

/** See {@link VolumePlugin.stagedOnDisk}. */
export async function stagedDisks({ attachable, onDisk, deviceOf }: DiskFolders): Promise<readonly StagedOnDisk[]> {
  const staged: StagedOnDisk[] = [];
  const mounts = await readMounts();
  for (const mode of ['Filesystem', 'Block'] as const)
    for (const stagedPath of await onDisk(mode)) {
      const deviceName = deviceOf(stagedPath);
      if (deviceName === null) continue;
      const label = mode === 'Block' ? '' : contextOf(mounts, stagedPath);
      staged.push({ deviceName, name: '', mode, stagedPath, attachable, ...(label !== '' && { label }) });
    }
  return staged;
}
