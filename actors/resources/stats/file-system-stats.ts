import type { FilesystemReading } from '../cgroup-stats/cgroup-reading.ts';
import type { DiskUsage } from './disk-usage.ts';
import type { FsStats } from './summary.ts';

/** Sizes of the file system of a path; null when there is no such path. */
export type ReadSizes = (path: string) => Promise<Omit<FilesystemReading, 'device'> | null>;

/** The file system alone: what parts of it take is added by others. */
export function fileSystemStats(sizes: Awaited<ReturnType<ReadSizes>>, time: FsStats['time']): FsStats {
  if (sizes === null) return { time };
  return {
    time,
    availableBytes: sizes.availableBytes,
    capacityBytes: sizes.capacityBytes,
    inodesFree: sizes.inodesFree,
    inodes: sizes.inodes,
  };
}

/** `fs` with the usage of a part of it, `at` in ns. */
export function withUsage(fs: FsStats, usage: DiskUsage, at: number): FsStats {
  return orderedFs({ ...fs, time: at, usedBytes: usage.bytes, inodesUsed: usage.inodes });
}

/** Properties in the order in which Go prints them. */
export function orderedFs(fs: FsStats): FsStats {
  const { time, availableBytes, capacityBytes, usedBytes, inodesFree, inodes, inodesUsed } = fs;
  return { time, availableBytes, capacityBytes, usedBytes, inodesFree, inodes, inodesUsed };
}

/**
 * `ephemeral-storage` of a pod (kubelet's calcEphemeralStorage): writable layers and logs of its containers, local
 * volumes, and other files of the pod; of the file system of the kubelet's root folder.
 */
export function ephemeralStorage(root: FsStats, parts: readonly (FsStats | undefined)[]): FsStats {
  const sum: FsStats = { ...root, usedBytes: undefined, inodesUsed: undefined };
  for (const part of parts) {
    if (part === undefined) continue;
    sum.usedBytes = added(sum.usedBytes, part.usedBytes);
    sum.inodesUsed = added(sum.inodesUsed, part.inodesUsed);
    if ((part.time ?? 0) > (sum.time ?? 0)) sum.time = part.time;
  }
  return orderedFs(sum);
}

function added(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : a + (b ?? 0);
}
