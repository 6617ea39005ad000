import type { Plan } from '../draw/plan.ts';

const MIB = 2 ** 20;

/** What there is on the simulated node: bytes, inodes, process ids. Each disk is as large. */
export const CAPACITY = { memory: 16_384 * MIB, disk: 65_536 * MIB, inodes: 4_000_000, pids: 32_768 };
/** What all pods together may take of memory. */
export const ALLOCATABLE_MEMORY = 15_360 * MIB;
/** Hard thresholds, as {@link evictionConfig} has them. */
export const THRESHOLD = { memory: 1_024 * MIB, disk: 1_024 * MIB, inodes: 200_000, pids: 1_000 };
/** Soft ones. */
export const SOFT_THRESHOLD = { memory: 1_100 * MIB, disk: 1_200 * MIB };
/** By so much more must be there before it is over. */
export const RECLAIM = { memory: 200 * MIB, disk: 500 * MIB };
/** For so long a condition of the node stays after it was observed last, ms. */
export const TRANSITION_MS = 30_000;

/** How the simulated node is told when to evict. */
export function evictionConfig({ disks }: Plan['node']) {
  const memory = { 'memory.available': '1Gi', 'nodefs.available': '1Gi', 'pid.available': '1k' };
  const soft = { 'memory.available': '1100Mi' };
  const grace = { 'memory.available': '20s' };
  const always = { evictionMaxPodGracePeriod: 3, evictionPressureTransitionPeriod: TRANSITION_MS };
  if (disks === undefined)
    return { evictionHard: memory, evictionSoft: soft, evictionSoftGracePeriod: grace, ...always };
  return {
    evictionHard: { ...memory, 'nodefs.inodesFree': '5%', 'imagefs.available': '1Gi', 'imagefs.inodesFree': '5%' },
    evictionSoft: { ...soft, 'nodefs.available': '1200Mi' },
    evictionSoftGracePeriod: { ...grace, 'nodefs.available': '30s' },
    evictionMinimumReclaim: { 'memory.available': '200Mi', 'nodefs.available': '500Mi' },
    ...always,
  };
}
