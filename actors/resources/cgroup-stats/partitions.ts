import { parseMountinfo, readMounts } from '../../host/files/mountinfo.ts';
import { readStatfs } from '../../host/strange/read-statfs.ts';
import { sizesIn } from './filesystem.ts';
import { readSmall } from './small-files.ts';
import type { FilesystemReading } from './cgroup-reading.ts';

/** A file system of the machine as cAdvisor tells them apart. */
export interface Partition {
  /** Source of the mount; the mount point of a tmpfs; `overlay_0-41` for an overlay. */
  device: string;
  mountPoint: string;
  major: number;
  minor: number;
}

/** Counters of a disk (`/proc/diskstats`); all 0 for what is none. Times in ms. */
export interface DiskReading {
  reads: number;
  readsMerged: number;
  sectorsRead: number;
  readMs: number;
  writes: number;
  writesMerged: number;
  sectorsWritten: number;
  writeMs: number;
  inProgress: number;
  ioMs: number;
  weightedIoMs: number;
}

/** A partition with its sizes and the counters of its disk. */
export interface PartitionReading extends FilesystemReading, DiskReading {}

const SUPPORTED = /^(?:ext.*|nfs.*|btrfs|overlay|tmpfs|xfs|zfs)$/;
/** Disks of which cAdvisor takes the counters. */
const DISK = /^(?:(?:s|v|xv)d[a-z]+\d*|dm-\d+)$/;
const NO_DISK: DiskReading = {
  reads: 0,
  readsMerged: 0,
  sectorsRead: 0,
  readMs: 0,
  writes: 0,
  writesMerged: 0,
  sectorsWritten: 0,
  writeMs: 0,
  inProgress: 0,
  ioMs: 0,
  weightedIoMs: 0,
};

/** Partitions in a text of `/proc/self/mountinfo`: the first mount of each device, and each tmpfs. */
export function findPartitions(mountinfo: string): Partition[] {
  const found = new Map<string, Partition>();
  for (const line of mountinfo.split('\n')) {
    const mount = parseMountinfo(line)[0];
    if (mount === undefined || !SUPPORTED.test(mount.fsType)) continue;
    const [major = 0, minor = 0] = (line.split(' ')[2] ?? '').split(':').map(Number);
    const { mountPoint } = mount;
    // further mounts of a device are bind mounts; but what is mounted at / stands for its device
    if (found.has(mount.source) && mount.fsType !== 'tmpfs' && mountPoint !== '/') continue;
    let device = mount.source;
    if (mount.fsType === 'tmpfs') device = mountPoint;
    if (mount.fsType === 'overlay') device = `${mount.source}_${major}-${minor}`;
    found.set(device, { device, mountPoint, major, minor });
  }
  return [...found.values()];
}

/** Reads sizes and counters; partitions that are not mounted any more are left out, and those that do not answer. */
export async function readPartitions(partitions: readonly Partition[]): Promise<PartitionReading[]> {
  const disks = parseDiskstats(readSmall('/proc/diskstats') ?? '');
  const mounts = await readMounts();
  const read = await Promise.all(
    partitions.map(async ({ device, mountPoint, major, minor }): Promise<PartitionReading[]> => {
      const found = await readStatfs(mountPoint, mounts);
      const disk = disks.get(device) ?? disks.get(`${major}:${minor}`) ?? NO_DISK;
      return found === null ? [] : [{ device, ...sizesIn(found), ...disk }];
    }),
  );
  return read.flat();
}

/** Counters by `/dev/NAME` and by `major:minor`. */
export function parseDiskstats(text: string): Map<string, DiskReading> {
  const found = new Map<string, DiskReading>();
  for (const line of text.split('\n')) {
    const [major, minor, name, ...numbers] = line.trim().split(/\s+/);
    if (name === undefined || !DISK.test(name) || numbers.length < 11) continue;
    const at = (index: number) => Number(numbers[index]);
    const disk: DiskReading = {
      reads: at(0),
      readsMerged: at(1),
      sectorsRead: at(2),
      readMs: at(3),
      writes: at(4),
      writesMerged: at(5),
      sectorsWritten: at(6),
      writeMs: at(7),
      inProgress: at(8),
      ioMs: at(9),
      weightedIoMs: at(10),
    };
    found.set(`/dev/${name}`, disk).set(`${major}:${minor}`, disk);
  }
  return found;
}
