import { lstat, opendir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readMounts } from '../../host/files/mountinfo.ts';
import { mayHang } from '../../host/strange/local-types.ts';

/** What files take. */
export interface DiskUsage {
  /** Blocks on disk, 512 bytes each. */
  bytes: number;
  inodes: number;
}

/** Entries that are looked at together: more would only queue up in the thread pool. */
const TOGETHER = 16;

/**
 * Usage of a file, or of a folder with all below it on the same file system, as kubelet counts it where there are no
 * quotas: the folder itself counts, hard links once, symbolic links as they are. Works in small steps.
 *
 * @throws Error when the path or a folder below it cannot be read; what vanishes meanwhile counts nothing
 */
export async function diskUsage(path: string): Promise<DiskUsage> {
  const strange = await strangeMountsBelow(path);
  const { dev } = await stat(path);
  const usage: DiskUsage = { bytes: 0, inodes: 0 };
  const linked = new Set<number>();
  const folders: string[] = [];
  const failures: unknown[] = [];
  const look = async (entry: string): Promise<void> => {
    const found = await unlessGone(lstat(entry)).catch((error: unknown) => void failures.push(error));
    if (found === undefined || found.dev !== dev) return;
    if (found.nlink > 1) {
      if (linked.has(found.ino)) return;
      linked.add(found.ino);
    }
    usage.bytes += found.blocks * 512;
    usage.inodes++;
    if (found.isDirectory()) folders.push(entry);
  };
  await look(path);
  if (failures.length > 0) throw failures[0];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await unlessGone(opendir(folder, { bufferSize: 64 }));
    if (entries === undefined) continue;
    let batch: Promise<void>[] = [];
    // the iterator closes the folder, also when a look fails
    for await (const { name } of entries) {
      const entry = join(folder, name);
      if (strange.has(entry)) continue;
      batch.push(look(entry));
      if (batch.length < TOGETHER) continue;
      const full = batch;
      batch = [];
      await Promise.all(full);
    }
    await Promise.all(batch);
    if (failures.length > 0) throw failures[0];
  }
  return usage;
}

/** Where the file system of a server is mounted below a folder: even a look at that place may have to wait for it. */
async function strangeMountsBelow(path: string): Promise<ReadonlySet<string>> {
  const mounts = await readMounts();
  return new Set(
    mounts.flatMap(({ mountPoint }) =>
      mountPoint.startsWith(`${path}/`) && mayHang(mounts, mountPoint) ? [mountPoint] : [],
    ),
  );
}

/** Usage of the plain files in a folder, not of what is in its folders; null when there is no such folder. */
export async function filesUsage(folder: string): Promise<DiskUsage | null> {
  const entries = await unlessGone(readdir(folder, { withFileTypes: true }));
  if (entries === undefined) return null;
  const usage: DiskUsage = { bytes: 0, inodes: 0 };
  for (const entry of entries) {
    const found = entry.isDirectory() ? null : await fileUsage(join(folder, entry.name));
    if (found === null) continue;
    usage.bytes += found.bytes;
    usage.inodes++;
  }
  return usage;
}

/** Usage of a file; null when there is none. */
export async function fileUsage(path: string): Promise<DiskUsage | null> {
  const found = await unlessGone(lstat(path));
  return found === undefined ? null : { bytes: found.blocks * 512, inodes: 1 };
}

async function unlessGone<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
