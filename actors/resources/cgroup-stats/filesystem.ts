import { stat } from 'node:fs/promises';
import { ignoring } from '../../host/files/host-failure.ts';
import { parseMountinfo } from '../../host/files/mountinfo.ts';
import { readStatfs } from '../../host/strange/read-statfs.ts';
import type { StatfsSizes } from '../../host/strange/strange-calls.ts';
import { readSmall } from './small-files.ts';
import type { FilesystemReading } from './cgroup-reading.ts';

/**
 * The file system that holds `path`.
 *
 * @returns null when there is no such path
 */
export async function readFilesystem(path: string): Promise<FilesystemReading | null> {
  const found = await ignoring(stat(path), 'ENOENT', 'ENOTDIR');
  if (found === undefined) return null;
  const sizes = await sizesOf(path);
  return sizes === null ? null : { device: deviceOf(path, found.dev), ...sizes };
}

/** Sizes that `statfs` tells; null when it fails (gone, or a server of a network file system that does not answer). */
export async function sizesOf(path: string): Promise<Omit<FilesystemReading, 'device'> | null> {
  const found = await readStatfs(path);
  return found === null ? null : sizesIn(found);
}

/** Bytes and inodes, of what statfs(2) tells in blocks. */
export function sizesIn({
  bsize,
  blocks,
  bfree,
  bavail,
  files,
  ffree,
}: StatfsSizes): Omit<FilesystemReading, 'device'> {
  return {
    capacityBytes: blocks * bsize,
    availableBytes: bavail * bsize,
    usedBytes: (blocks - bfree) * bsize,
    inodes: files,
    inodesFree: ffree,
  };
}

/** Source of the mount with this device number (`st_dev`); else (btrfs numbers its subvolumes) of the mount above `path`. */
function deviceOf(path: string, dev: number): string {
  const text = readSmall('/proc/self/mountinfo') ?? '';
  const number = ` ${majorOf(dev)}:${minorOf(dev)} `;
  const line = text.split('\n').find((entry) => entry.includes(number));
  const byNumber = line === undefined ? undefined : parseMountinfo(line)[0];
  if (byNumber !== undefined) return byNumber.source;
  let best: { source: string; length: number } | undefined;
  for (const { mountPoint, source } of parseMountinfo(text)) {
    const holds = mountPoint === '/' || path === mountPoint || path.startsWith(`${mountPoint}/`);
    if (holds && mountPoint.length >= (best?.length ?? 0)) best = { source, length: mountPoint.length };
  }
  return best?.source ?? '';
}

/** Linux' encoding of `dev_t`; device numbers fit into 32 bits in practice. */
function majorOf(dev: number): number {
  return (dev >>> 8) & 0xfff;
}

function minorOf(dev: number): number {
  return (dev & 0xff) | ((dev >>> 12) & 0xfff00);
}
