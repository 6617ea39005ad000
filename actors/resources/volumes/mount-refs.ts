import { realpath } from 'node:fs/promises';
import { mountAt, mountsOnTheWay, readMounts } from '../../host/files/mountinfo.ts';
import type { MountEntry } from '../../host/files/mountinfo.ts';
import { canonical } from '../../host/files/mounts.ts';
import { VolumeFailure } from './volume-plugin.ts';

/** Where else what is at `path` is mounted: kubelet's GetMountRefs. The path itself is left out. */
export async function mountRefs(path: string): Promise<string[]> {
  const mounts = await readMounts();
  const real = await realpath(path);
  const on = mountsOnTheWay(mounts, real).at(-1);
  if (on === undefined) return [];
  const root = mountAt(mounts, real) === undefined ? joinRoot(on.root, real.slice(on.mountPoint.length)) : on.root;
  return alike(mounts, { device: on.device, root }).flatMap(({ mountPoint }) =>
    mountPoint === real ? [] : mountPoint,
  );
}

/** Mounts of the same part of the same file system. */
function alike(mounts: readonly MountEntry[], { device, root }: Pick<MountEntry, 'device' | 'root'>): MountEntry[] {
  return mounts.filter((each) => each.device === device && each.root === root);
}

/** Kubelet's folder for what plugins keep of volumes, below its root. */
const PLUGINS = '/plugins/kubernetes.io/';

/**
 * What is mounted once for all pods may be unmounted: rejects in kubelet's words (HasMountRefs) where it is mounted for a pod, or for whoever. Nothing of
 * it is looked into, for it may be a file system that is dead.
 */
export async function refuseInUse(path: string): Promise<void> {
  const mounts = await readMounts();
  const own = mountAt(mounts, await canonical(path));
  if (own === undefined) return;
  const root = own.mountPoint.slice(0, Math.max(0, own.mountPoint.indexOf(PLUGINS)));
  // A share that several volumes have is one file system, and in each of its mounts the same: two that wait for each other would do so for ever.
  const isShare = own.device.startsWith('0:') && root !== '';
  const refs = alike(mounts, own)
    .flatMap(({ id, mountPoint }) => (id === own.id ? [] : mountPoint))
    .filter((ref) => !isShare || !ref.startsWith(`${root}/`));
  // Where the root directory is seen by another path, too, this is the same mount.
  const suffix = path.slice(Math.max(0, path.indexOf(PLUGINS)));
  if (refs.every((ref) => ref.includes(suffix))) return;
  const text = `the device mount path "${path}" is still mounted by other references [${refs.join(' ')}]`;
  throw new VolumeFailure('DeviceInUse', text, { what: 'GetDeviceMountRefs check failed' });
}

function joinRoot(root: string, inside: string): string {
  const path = `${root === '/' ? '' : root}/${inside}`.replace(/\/{2,}/g, '/');
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
