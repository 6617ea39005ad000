import { join } from 'node:path';
import { ActorletError } from '../../../machines/errors/define.ts';
import { hostErrors } from '../../../machines/errors/host-errors.ts';

/** Name of a volume plugin as it stands in folder names (`/` written as `~`). */
export type PluginFolder = (typeof PLUGIN_FOLDERS)[number];

/** Plugins whose volumes this agent sets up below a pod's folder, and so may delete. */
export const PLUGIN_FOLDERS = [
  'kubernetes.io~empty-dir',
  'kubernetes.io~git-repo',
  'kubernetes.io~downward-api',
  'kubernetes.io~configmap',
  'kubernetes.io~secret',
  'kubernetes.io~projected',
] as const;

/** Below a pod's folder: the bind mounts of its subPaths. */
export const SUB_PATHS_FOLDER = 'volume-subpaths';

/** `<rootDir>/pods/<uid>`. Every name that goes into a path is checked, since removal starts from these paths. */
export function podDir(rootDir: string, podUid: string): string {
  return join(rootDir, 'pods', plainName(podUid, 'the pod UID'));
}

/** `<rootDir>/pods/<uid>/volumes/<plugin>/<volume>`. */
export function podVolumeDir(rootDir: string, podUid: string, plugin: PluginFolder, volume: string): string {
  return join(podDir(rootDir, podUid), 'volumes', plugin, plainName(volume, 'the volume name'));
}

/** `<rootDir>/pods/<uid>/plugins/kubernetes.io~empty-dir/<volume>`: holds the file `ready` once the volume is set up. */
export function emptyDirMetaDir(rootDir: string, podUid: string, volume: string): string {
  return join(podDir(rootDir, podUid), 'plugins', 'kubernetes.io~empty-dir', plainName(volume, 'the volume name'));
}

/** The same of a clone, as kubelet has it: `<rootDir>/pods/<uid>/plugins/kubernetes.io~git-repo/<volume>`. */
export function gitRepoMetaDir(rootDir: string, podUid: string, volume: string): string {
  return join(podDir(rootDir, podUid), 'plugins', 'kubernetes.io~git-repo', plainName(volume, 'the volume name'));
}

/** `name` when it is one path component. @throws ActorletError HOST010 otherwise */
export function plainName(name: string, what: string): string {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name))
    throw new ActorletError(hostErrors.notPodPath, { path: JSON.stringify(name), what });
  return name;
}
