import type { NodeStats } from '../../../actors/resources/stats/summary.ts';
import { CAPACITY, RECLAIM, SOFT_THRESHOLD, THRESHOLD } from '../world/node-sizes.ts';
import type { Plan } from '../draw/plan.ts';

/** A signal that is short: of what, and of which disk. */
export interface Shortage {
  resource: 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';
  fs: 'nodefs' | 'imagefs' | 'containerfs' | null;
}

/** How near it must be to count: a hard threshold, any, or any with what is to be reclaimed on top. */
export type Depth = 'hard' | 'any' | 'reclaim';

/** What a node is short of by its stats, as its configuration says ({@link evictionConfig}). */
export function shortages(node: NodeStats, disks: Plan['node']['disks'], depth: Depth): Shortage[] {
  const found: Shortage[] = [];
  const known = (value: number | undefined): value is number => value !== undefined;
  const reclaim = (bytes: number): number => (depth === 'reclaim' && disks !== undefined ? bytes : 0);
  const memory = (available: number | undefined, workingSet: number | undefined, soft: boolean): void => {
    const least = (depth === 'hard' || !soft ? THRESHOLD.memory : SOFT_THRESHOLD.memory) + reclaim(RECLAIM.memory);
    if (known(available) && known(workingSet) && available < least) found.push({ resource: 'memory', fs: null });
  };
  memory(node.memory?.availableBytes, node.memory?.workingSetBytes, true);
  const pods = node.systemContainers?.find(({ name }) => name === 'pods')?.memory;
  memory(pods?.availableBytes, pods?.workingSetBytes, false);
  const nodefs = disks === undefined || depth === 'hard' ? THRESHOLD.disk : SOFT_THRESHOLD.disk;
  // Writable layers have the thresholds of the disk that they are on.
  const layers = disks === 'images' ? THRESHOLD.disk : nodefs + reclaim(RECLAIM.disk);
  const each = [
    ['nodefs', node.fs, nodefs + reclaim(RECLAIM.disk)],
    ['imagefs', node.runtime?.imageFs, THRESHOLD.disk],
    ['containerfs', node.runtime?.containerFs, layers],
  ] as const;
  for (const [fs, stats, least] of each) {
    if (known(stats?.availableBytes) && known(stats.capacityBytes) && stats.availableBytes < least)
      found.push({ resource: 'ephemeral-storage', fs });
    if (known(stats?.inodesFree) && stats.inodesFree < CAPACITY.inodes * 0.05) found.push({ resource: 'inodes', fs });
  }
  const { maxpid, curproc } = node.rlimit ?? {};
  if (known(maxpid) && known(curproc) && maxpid - curproc < THRESHOLD.pids) found.push({ resource: 'pids', fs: null });
  return found;
}
