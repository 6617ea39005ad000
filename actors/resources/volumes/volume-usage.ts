import type { StatfsSizes } from '../../host/strange/strange-calls.ts';
import type { VolumeUsage } from './volume-plugin.ts';

/** What a volume holds whose whole file system is its own (kubelet's MetricsStatFS); null when it cannot be told. */
export function usageOf(sizes: StatfsSizes | null): VolumeUsage | null {
  if (sizes === null) return null;
  const { bsize, blocks, bfree, bavail, files, ffree } = sizes;
  return {
    capacityBytes: blocks * bsize,
    usedBytes: (blocks - bfree) * bsize,
    availableBytes: bavail * bsize,
    inodes: files,
    inodesUsed: files - ffree,
    inodesFree: ffree,
  };
}
