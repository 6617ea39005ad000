import { realpath } from 'node:fs/promises';
import { mountAt, mountsOnTheWay, readMounts } from '../../host/files/mountinfo.ts';

/** Where else what is at `path` is mounted: kubelet's GetMountRefs. The path itself is left out. */
export async function mountRefs(path: string): Promise<string[]> {
  const mounts = await readMounts();
  const real = await realpath(path);
  const on = mountsOnTheWay(mounts, real).at(-1);
  if (on === undefined) return [];
  const root = mountAt(mounts, real) === undefined ? joinRoot(on.root, real.slice(on.mountPoint.length)) : on.root;
  return mounts
    .filter(({ device, root: its, mountPoint }) => device === on.device && its === root && mountPoint !== real)
    .map(({ mountPoint }) => mountPoint);
}

function joinRoot(root: string, inside: string): string {
  const path = `${root === '/' ? '' : root}/${inside}`.replace(/\/{2,}/g, '/');
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
