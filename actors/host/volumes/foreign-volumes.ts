import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ActorletError } from '../../../machines/errors/define.ts';
import { hostErrors } from '../../../machines/errors/host-errors.ts';
import { ignoring } from '../files/host-failure.ts';
import { mountsIn } from '../files/mounts.ts';
import { PLUGIN_FOLDERS, SUB_PATHS_FOLDER } from '../files/pod-paths.ts';

const OURS = [SUB_PATHS_FOLDER, ...PLUGIN_FOLDERS.map((plugin) => `volumes/${plugin}`)];

/**
 * Is a mount at this path below a pod's folder one that this agent has made, or that stands in a volume of its own? Those of
 * others, as kubelet and its drivers left them on a node that was taken over, are taken away by them (NodeUnpublishVolume): who
 * unmounts behind a driver's back leaves it with a volume that it takes for mounted, and another node with one that is in use.
 */
export function isOurs(inside: string): boolean {
  return OURS.some((folder) => inside.startsWith(`${folder}/`));
}

/** Plugins with volumes in the pod's folder that this agent has not made: their data is not ours to delete. */
export async function foreignPlugins(podDir: string): Promise<string[]> {
  const volumesDir = join(podDir, 'volumes');
  const found: string[] = [];
  for (const plugin of (await ignoring(readdir(volumesDir), 'ENOENT', 'ENOTDIR')) ?? []) {
    if ((PLUGIN_FOLDERS as readonly string[]).includes(plugin)) continue;
    const volumes = await ignoring(readdir(join(volumesDir, plugin)), 'ENOENT', 'ENOTDIR');
    if (volumes === undefined || volumes.length > 0) found.push(plugin);
  }
  return found;
}

/**
 * Nothing of others may be below the folder of a pod that is to be removed, neither a mount nor a volume.
 *
 * @throws ActorletError HOST014
 */
export async function refuseForeign(podDir: string): Promise<void> {
  const mounts = (await mountsIn(podDir)).map(({ mountPoint }) => mountPoint);
  const left = mounts.length > 0 ? mounts : (await foreignPlugins(podDir)).map((plugin) => join('volumes', plugin));
  if (left.length > 0) throw new ActorletError(hostErrors.foreignVolumes, { path: podDir, left: left.join(', ') });
}
