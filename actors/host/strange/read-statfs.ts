import { statfs } from 'node:fs/promises';
import type { MountEntry } from '../files/mountinfo.ts';
import { readMounts } from '../files/mountinfo.ts';
import { mayHang } from './local-types.ts';
import type { StatfsSizes } from './strange-calls.ts';
import { strangeFiles } from './strange-files.ts';

/** How long a request waits for a file system's sizes, ms; then it is told without. */
const WITHIN_MS = 2_000;

/**
 * What statfs(2) tells of a path; null when it cannot be had: no such path, or a server that does not answer.
 *
 * @param mounts this process's mounts, when the caller has just read them
 */
export async function readStatfs(path: string, mounts?: readonly MountEntry[]): Promise<StatfsSizes | null> {
  try {
    if (mayHang(mounts ?? (await readMounts()), path))
      return await strangeFiles.call({ do: 'statfs', path }, WITHIN_MS);
    return await statfs(path);
  } catch {
    return null;
  }
}
