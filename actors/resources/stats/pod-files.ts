import { join } from 'node:path';
import type { PodSandboxMetadata } from '../../../cri/generated/runtime/v1/api.ts';
import { fileUsage, filesUsage } from './disk-usage.ts';
import { withUsage } from './file-system-stats.ts';
import type { FsStats } from './summary.ts';

/** Where pods' files are, and the clock (ms since the epoch). */
export interface PodFolders {
  rootDir: string;
  podLogsDir: string;
  now: () => number;
}

/** The pod's log folder, `<podLogsDir>/<namespace>_<name>_<uid>`. */
function logFolder({ podLogsDir }: PodFolders, pod: PodSandboxMetadata | undefined): string {
  return join(podLogsDir, `${pod?.namespace ?? ''}_${pod?.name ?? ''}_${pod?.uid ?? ''}`);
}

/**
 * Logs of a container with all rotated files.
 * @param root the file system they are on
 * @returns undefined when the container has no log folder
 */
export async function containerLogs(
  folders: PodFolders,
  pod: PodSandboxMetadata | undefined,
  container: string,
  root: FsStats,
): Promise<FsStats | undefined> {
  return usageOf(folders, root, filesUsage(join(logFolder(folders, pod), container)));
}

/** Files of a pod beside those of its containers and volumes: in its log folder itself, and its `/etc/hosts`. */
export async function otherFiles(
  folders: PodFolders,
  pod: PodSandboxMetadata | undefined,
  root: FsStats,
): Promise<(FsStats | undefined)[]> {
  const etcHosts = join(folders.rootDir, 'pods', pod?.uid ?? '', 'etc-hosts');
  return Promise.all([
    usageOf(folders, root, filesUsage(logFolder(folders, pod))),
    usageOf(folders, root, fileUsage(etcHosts)),
  ]);
}

async function usageOf(
  { now }: PodFolders,
  root: FsStats,
  counting: ReturnType<typeof filesUsage>,
): Promise<FsStats | undefined> {
  // Unreadable is told like absent, as the reference does: all other figures of the pod are still worth telling.
  const usage = await counting.catch(() => null);
  if (usage === null) return undefined;
  // No file: the reference leaves both figures out
  if (usage.inodes === 0) return root;
  return withUsage(root, usage, now() * 1e6);
}
