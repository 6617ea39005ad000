import type { MountEntry } from '../../../../actors/host/files/mountinfo.ts';
import type { Disk } from './disk.ts';
import { onDisk } from './current-disk.ts';

/** `actors/host/files/mountinfo.ts` over the simulated machine, for what makes volumes of claims: the loader maps that module to this one for it. */

export { mountAt, mountsBelow, mountsOnTheWay, parseMountinfo } from '../../../../actors/host/files/mountinfo.ts';
export type { MountEntry };

/** As the agent's. */
export function readMounts(): Promise<MountEntry[]> {
  return onDisk(mountsOf);
}

/** What is mounted on a machine: what has the same source is the same device. */
export function mountsOf({ mounts }: Disk): MountEntry[] {
  return [...mounts].map(([mountPoint, source], id) => ({
    ...{ id, parentId: 0, device: `8:${source}`, root: '/', mountPoint, options: ['rw'] },
    ...{ fsType: 'ext4', source, superOptions: ['rw'], shared: true },
  }));
}
