import { readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FoundDevice, FoundVolume } from '../../../machines/volume-manager/volume-messages.ts';
import { ignoring } from '../../host/files/host-failure.ts';
import { plainName, podDir } from '../../host/files/pod-paths.ts';
import { pluginsNow } from './plugins-now.ts';
import type { PublishedOnDisk, VolumeKind } from './volume-plugin.ts';

/** Folders below a pod's, by what its volumes are. */
const FOLDERS = { Filesystem: 'volumes', Block: 'volumeDevices' } as const;

/** A plugin's or volume's name as a folder's: `kubernetes.io~csi`. */
export function escaped(plugin: string): string {
  return plugin.replaceAll('/', '~');
}

/** `<root>/pods/<uid>/volumes/<plugin>/<name>`, or `volumeDevices` for a block volume. */
export function volumeFolder(
  rootDir: string,
  podUid: string,
  plugin: string,
  name: string,
  mode: 'Filesystem' | 'Block',
): string {
  return join(podDir(rootDir, podUid), FOLDERS[mode], escaped(plugin), plainName(escaped(name), 'the volume name'));
}

/** Removes a folder of a plugin in a pod's folder that holds nothing any more. */
export async function removeEmpty(path: string): Promise<void> {
  await ignoring(rmdir(path), 'ENOENT', 'ENOTEMPTY', 'ENOTDIR', 'EBUSY');
}

/** All that lies in a pod's folder of these plugins. */
export async function volumesInFolder(
  rootDir: string,
  podUid: string,
  plugins: readonly VolumeKind[],
): Promise<FoundVolume[]> {
  const found: FoundVolume[] = [];
  for (const plugin of await pluginsNow(plugins)) {
    for (const mode of ['Filesystem', 'Block'] as const) {
      const folder = join(podDir(rootDir, podUid), FOLDERS[mode], escaped(plugin.name));
      for (const folderName of (await ignoring(readdir(folder), 'ENOENT', 'ENOTDIR')) ?? []) {
        const path = join(folder, folderName);
        const call = { podUid, name: folderName, mode, path };
        const its = plugin.publishedOnDisk ? await plugin.publishedOnDisk(call).catch(() => null) : NO_DEVICE;
        const device = its === null ? '?' : its.deviceName === '' ? '' : `${plugin.name}/${its.deviceName}`;
        const known = its?.name !== undefined && escaped(its.name) === folderName ? its.name : folderName;
        found.push({ plugin: plugin.name, name: known, mode, path, device, attachable: its?.attachable ?? false });
      }
    }
  }
  return found;
}

const NO_DEVICE: PublishedOnDisk = { deviceName: '', attachable: false };

/** UIDs of all pods that have a folder. */
export async function podFolders(rootDir: string): Promise<string[]> {
  const entries = (await ignoring(readdir(join(rootDir, 'pods'), { withFileTypes: true }), 'ENOENT')) ?? [];
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/** All devices that plugins find staged; one that cannot tell is left out. @param labelled whether SELinux labels matter */
export async function stagedDevices(plugins: readonly VolumeKind[], labelled: boolean): Promise<FoundDevice[]> {
  const found: FoundDevice[] = [];
  for (const plugin of await pluginsNow(plugins))
    for (const { deviceName, label = '', ...rest } of (await plugin.stagedOnDisk?.().catch(() => [])) ?? [])
      found.push({
        ...rest,
        device: `${plugin.name}/${deviceName}`,
        plugin: plugin.name,
        attachable: rest.attachable ?? false,
        ...(labelled && { label }),
      });
  return found;
}
