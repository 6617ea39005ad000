import type { MountEntry } from '../files/mountinfo.ts';
import { mountsOnTheWay } from '../files/mountinfo.ts';

/** File systems of this machine's own disks and memory; any other has a server, which may not answer (nfs, cifs, fuse, 9p, autofs ...). */
const LOCAL =
  /^(?:ext[234]|xfs|btrfs|zfs|f2fs|jfs|vfat|exfat|iso9660|squashfs|erofs|bcachefs|overlay|tmpfs|ramfs|rootfs|devtmpfs|hugetlbfs|proc|sysfs|cgroup2?|nsfs|mqueue)$/;

/** May a look at this path have to wait for a server, by what is mounted on the way to it? Links aside. */
export function mayHang(mounts: readonly MountEntry[], path: string): boolean {
  return mountsOnTheWay(mounts, path).some(({ fsType }) => !LOCAL.test(fsType));
}
