import type { Stats } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { HostFailure, ignoring } from '../files/host-failure.ts';

/** What each `hostPath.type` demands of the path, and the kubelet's word for it in the error. */
const CHECKS: Record<string, { is: (info: Stats) => boolean; word: string }> = {
  DirectoryOrCreate: { is: (info) => info.isDirectory(), word: 'a directory' },
  Directory: { is: (info) => info.isDirectory(), word: 'a directory' },
  FileOrCreate: { is: (info) => info.isFile(), word: 'a file' },
  File: { is: (info) => info.isFile(), word: 'a file' },
  Socket: { is: (info) => info.isSocket(), word: 'a socket file' },
  CharDevice: { is: (info) => info.isCharacterDevice(), word: 'a character device' },
  BlockDevice: { is: (info) => info.isBlockDevice(), word: 'a block device' },
};

/**
 * Checks a `hostPath` against its type, and makes it for the `OrCreate` types.
 *
 * @throws HostFailure `HostPathType` with the kubelet's words
 */
export async function checkHostPath(path: string, type: string): Promise<void> {
  const check = Object.hasOwn(CHECKS, type) ? CHECKS[type] : undefined;
  if (check === undefined) throw new HostFailure('HostPathType', `${type} is an invalid volume type`);
  const info = await ignoring(stat(path), 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES');
  if (info === undefined && type === 'DirectoryOrCreate') await mkdir(path, { recursive: true, mode: 0o755 });
  else if (info === undefined && type === 'FileOrCreate') await (await open(path, 'a', 0o644)).close();
  else if (info === undefined || !check.is(info))
    throw new HostFailure('HostPathType', `hostPath type check failed: ${path} is not ${check.word}`);
}
