import type { FsStats, NodeStats, PodStats } from '../../../actors/resources/stats/summary.ts';
import type { Plan } from '../draw/plan.ts';
import { ALLOCATABLE_MEMORY, CAPACITY } from './node-sizes.ts';
import type { PodTake } from './pod-takes.ts';

/** What all pods take together, bytes or counts; `others`: what is none of theirs. */
export interface Taken {
  memory: number;
  pids: number;
  layers: number;
  logs: number;
  volumes: number;
  files: number;
  images: number;
  others: { memory?: number; disk?: number; pids?: number };
}

/** The node's stats as the summary API has them. @param time ns since the epoch */
export function nodeStats(taken: Taken, disks: Plan['node']['disks'], time: number): NodeStats {
  const { layers, logs, volumes, files, images, others } = taken;
  const memory = Math.max(0, CAPACITY.memory - taken.memory - (others.memory ?? 0));
  const disk = (used: number, inodes: number): FsStats => ({
    time,
    availableBytes: Math.max(0, CAPACITY.disk - used),
    capacityBytes: CAPACITY.disk,
    ...(disks !== undefined && { inodesFree: Math.max(0, CAPACITY.inodes - inodes), inodes: CAPACITY.inodes }),
  });
  const withImages = disks !== 'images' && disks !== 'split';
  const nodeFs = logs + volumes + (disks === 'images' ? 0 : layers) + (withImages ? images : 0) + (others.disk ?? 0);
  const fs = disk(nodeFs, files);
  const imageFs = withImages ? fs : disk(images + (disks === 'images' ? layers : 0), 0);
  return {
    nodeName: 'sim',
    startTime: 0,
    memory: { time, availableBytes: memory, workingSetBytes: CAPACITY.memory - memory },
    ...(disks !== undefined && {
      systemContainers: [
        {
          name: 'pods',
          startTime: 0,
          memory: {
            time,
            availableBytes: Math.max(0, ALLOCATABLE_MEMORY - taken.memory),
            workingSetBytes: Math.min(ALLOCATABLE_MEMORY, taken.memory),
          },
        },
      ],
      runtime: { imageFs, containerFs: disks === 'images' ? imageFs : fs },
    }),
    fs,
    rlimit: {
      time,
      maxpid: CAPACITY.pids,
      curproc: Math.min(CAPACITY.pids, taken.pids + (others.pids ?? 0)),
    },
  };
}

/** A pod's stats as the summary API has them. */
export function podStats(uid: string, { name, containers, volume, files }: PodTake): PodStats {
  const all = [...containers.values()];
  const sum = (of: (each: (typeof all)[number]) => number): number => all.reduce((total, each) => total + of(each), 0);
  return {
    podRef: { uid, name, namespace: 'default' },
    startTime: 0,
    memory: { time: null, workingSetBytes: sum(({ memory }) => memory) },
    containers: [...containers].map(([container, { memory, layer, log }]) => ({
      ...{ name: container, startTime: 0, memory: { time: null, workingSetBytes: memory } },
      ...{ rootfs: { time: null, usedBytes: layer }, logs: { time: null, usedBytes: log } },
    })),
    volume: [{ time: null, name: 'data', usedBytes: volume, inodesUsed: files }],
    'ephemeral-storage': { time: null, usedBytes: sum(({ layer, log }) => layer + log) + volume },
    process_stats: { process_count: sum(({ pids }) => pids) },
  };
}
