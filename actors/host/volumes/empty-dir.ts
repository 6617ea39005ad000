import { chmod, lstat, mkdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ActorletError } from '../../../machines/errors/define.ts';
import { hostErrors } from '../../../machines/errors/host-errors.ts';
import type { VolumeSetup } from '../../../machines/protocol/effects.ts';
import { ignoring } from '../files/host-failure.ts';
import type { HostSettings } from '../files/host-settings.ts';
import { isFileSystemRoot, mount } from '../files/mounts.ts';
import { tmpfsNoswap } from '../kernel/tmpfs-noswap.ts';
import { emptyDirMetaDir, podVolumeDir } from '../files/pod-paths.ts';
import { setVolumeOwnership, toldOwnership } from './volume-ownership.ts';

/** Mode of the folder: any user of the pod may write. */
const EMPTY_DIR_MODE = 0o777;

/** `f_type` of statfs(2). */
const FS_TYPES = { tmpfs: 0x01021994, hugetlbfs: 0x958458f6 };

/** What a scratch folder needs; also the base of downwardAPI, configMap and secret volumes. */
export interface ScratchFolder {
  podUid: string;
  /** Folder to make. */
  dir: string;
  /** Folder for the `ready` marker. */
  metaDir: string;
  volume: string;
  medium: '' | 'Memory' | 'HugePages';
  /** For `Memory`. */
  sizeLimitBytes?: number;
  /** For `HugePages`, e.g. `2Mi`. */
  hugePageSize?: string;
  fsGroup?: number;
}

/** Sets up an `emptyDir` volume and returns its path; one that is ready is left as it is. */
export async function setUpEmptyDir(
  podUid: string,
  volume: Extract<VolumeSetup, { kind: 'emptyDir' }>,
  fsGroup: number | undefined,
  settings: HostSettings,
): Promise<string> {
  const { name, sizeLimitBytes, hugePageSize } = volume;
  const medium = mediumOf(volume);
  const dir = podVolumeDir(settings.rootDir, podUid, 'kubernetes.io~empty-dir', name);
  const metaDir = emptyDirMetaDir(settings.rootDir, podUid, name);
  await setUpScratchFolder(
    { podUid, dir, metaDir, volume: name, medium, sizeLimitBytes, hugePageSize, fsGroup },
    settings,
  );
  // Also of one that is ready: this agent may be the first that has the file system count it.
  if (volume.quotaBytes !== undefined)
    await settings.askNode?.('quota.Assign', { folder: dir, bytes: volume.quotaBytes });
  return dir;
}

function mediumOf({ name, medium, hugePageSize }: Extract<VolumeSetup, { kind: 'emptyDir' }>): ScratchFolder['medium'] {
  if (medium === '' || medium === 'Memory') return medium;
  if (!/^HugePages(-|$)/.test(medium))
    throw new ActorletError(hostErrors.unknownMedium, { volume: name, medium: JSON.stringify(medium) });
  if (hugePageSize === undefined) throw new ActorletError(hostErrors.hugePagesMedium, { volume: name, medium });
  return 'HugePages';
}

/** Makes the folder (a tmpfs for medium Memory) unless it is marked ready and really there. */
export async function setUpScratchFolder(folder: ScratchFolder, settings: HostSettings): Promise<void> {
  const { dir, metaDir, medium } = folder;
  const ready = await isReady(metaDir);
  const mounted = medium !== '' && (await isFileSystemRoot(dir));
  if (ready && mounted) return;
  if (ready && medium === '') {
    if ((await ignoring(stat(dir), 'ENOENT')) !== undefined) return;
    settings.log.warn({ dir, metaDir }, 'Volume is marked ready but its folder is gone; setting it up again');
    await rm(metaDir, { recursive: true, force: true });
  }
  await mkdir(dir, { recursive: true, mode: EMPTY_DIR_MODE });
  // mkdir's mode goes through the umask.
  if (((await lstat(dir)).mode & 0o777) !== EMPTY_DIR_MODE) await chmod(dir, EMPTY_DIR_MODE);
  if (medium === 'Memory' && !(mounted && (await isOn(dir, 'tmpfs')))) {
    await mount(
      'tmpfs',
      dir,
      'tmpfs',
      tmpfsOptions(folder.sizeLimitBytes, await tmpfsNoswap(settings.rootDir, settings.log)),
    );
  }
  if (medium === 'HugePages' && !(mounted && (await isOn(dir, 'hugetlbfs')))) {
    await mount('nodev', dir, 'hugetlbfs', [`pagesize=${folder.hugePageSize ?? ''}`]);
  }
  if (folder.fsGroup !== undefined)
    await setVolumeOwnership(
      dir,
      folder.fsGroup,
      false,
      settings.log,
      toldOwnership(folder.podUid, 'kubernetes.io/empty-dir', settings),
    );
  await mkdir(metaDir, { recursive: true, mode: 0o750 });
  await writeFile(join(metaDir, 'ready'), '');
}

async function isOn(dir: string, fsType: keyof typeof FS_TYPES): Promise<boolean> {
  return (await statfs(dir)).type === FS_TYPES[fsType];
}

/** Options of the tmpfs: its size in bytes (kernel default without limit) and never to swap, where that can be asked for. */
export function tmpfsOptions(sizeLimitBytes: number | undefined, noswap: boolean): string[] {
  const options: string[] = [];
  if (sizeLimitBytes !== undefined && sizeLimitBytes > 0) options.push(`size=${sizeLimitBytes}`);
  if (noswap) options.push('noswap');
  return options;
}

async function isReady(metaDir: string): Promise<boolean> {
  return (await ignoring(stat(join(metaDir, 'ready')), 'ENOENT', 'ENOTDIR'))?.isFile() ?? false;
}
