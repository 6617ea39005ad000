import { readFile, stat } from 'node:fs/promises';
import type { VolumeUsage } from './volume-plugin.ts';

/** In what sysfs counts the size of a device, bytes. */
const SECTOR = 512;

/**
 * What can be told of a device: how large it is (kubelet's MetricsBlock, which opens it and seeks to its end; here nobody opens what may hang). Null when
 * it is none.
 *
 * @param path where a pod's device is bound
 */
export async function blockUsage(path: string): Promise<VolumeUsage | null> {
  const info = await stat(path);
  if (!info.isBlockDevice()) return null;
  const sectors = Number(await readFile(`/sys/dev/block/${numbersOf(info.rdev)}/size`, 'utf8'));
  const capacityBytes = sectors * SECTOR;
  return {
    capacityBytes,
    ...{ usedBytes: null, availableBytes: null, inodes: null, inodesUsed: null, inodesFree: null },
  };
}

/** `MAJOR:MINOR` of a device's number, as the C library packs them. */
function numbersOf(rdev: number): string {
  const device = BigInt(rdev);
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & 0xfffff000n);
  const minor = (device & 0xffn) | ((device >> 12n) & 0xffffff00n);
  return `${major}:${minor}`;
}
