import { join } from 'node:path';
import type { PodSandboxMetadata } from '../../../cri/generated/runtime/v1/api.ts';
import { fileUsage, filesUsage } from './disk-usage.ts';
import type { DiskUsage } from './disk-usage.ts';
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

/** What files take, and when they were counted (ms since the epoch); null: there is no such place. */
export type CountedFiles = (DiskUsage & { at: number }) | null;

/** Files of a pod, but for its volumes. */
export interface PodFiles {
  /** By container: logs with all rotated files; null without a log folder. */
  logs: ReadonlyMap<string, CountedFiles>;
  /** In its log folder itself, and its `/etc/hosts`. */
  others: readonly CountedFiles[];
}

/** Logs of a container with all rotated files. */
export function countLogs(
  folders: PodFolders,
  pod: PodSandboxMetadata | undefined,
  container: string,
): Promise<CountedFiles> {
  return counted(folders, filesUsage(join(logFolder(folders, pod), container)));
}

/** Looks at the files of a pod with these containers. */
export async function countPodFiles(
  folders: PodFolders,
  pod: PodSandboxMetadata | undefined,
  containers: readonly string[],
): Promise<PodFiles> {
  const etcHosts = join(folders.rootDir, 'pods', pod?.uid ?? '', 'etc-hosts');
  const [logs, ...others] = await Promise.all([
    Promise.all(containers.map(async (name) => [name, await countLogs(folders, pod, name)] as const)),
    counted(folders, filesUsage(logFolder(folders, pod))),
    counted(folders, fileUsage(etcHosts)),
  ]);
  return { logs: new Map(logs), others };
}

/**
 * Counted files as summaries tell them.
 * @param root the file system they are on
 */
export function filesStats(root: FsStats, files: CountedFiles | undefined): FsStats | undefined {
  if (files === null || files === undefined) return undefined;
  // No file: the reference leaves both figures out
  return files.inodes === 0 ? root : withUsage(root, files, files.at * 1e6);
}

async function counted({ now }: PodFolders, counting: ReturnType<typeof filesUsage>): Promise<CountedFiles> {
  // Unreadable is told like absent, as the reference does: all other figures of the pod are still worth telling.
  const usage = await counting.catch(() => null);
  return usage === null ? null : { ...usage, at: now() };
}
