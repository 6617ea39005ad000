import type { Logger } from 'pino';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { CgroupReader, InterfaceReading } from '../cgroup-stats/cgroup-reading.ts';
import { readFilesystem, sizesOf } from '../cgroup-stats/filesystem.ts';
import { readInterfaces } from '../cgroup-stats/interfaces.ts';
import type { FeatureGates } from '../../configure/configuration/feature-gates.ts';
import type { KubeletConfiguration } from '../../configure/configuration/kubelet-configuration.ts';
import type { KubeletFlags } from '../../configure/configuration/kubelet-flags.ts';
import type { NodeView } from '../../pods/store/node-view.ts';
import type { ProjectQuotas } from '../../host/quota/project-quotas.ts';
import type { ReadSizes } from './file-system-stats.ts';
import { ownCgroup, readMachineUsage } from './node-usage.ts';
import type { MachineUsage } from './node-usage.ts';
import type { ClaimedVolume } from './volume-usage.ts';

/** What a {@link StatsProvider} is made from. */
export interface StatsOptions {
  node: Pick<NodeView, 'nodeName' | 'pods'>;
  cri: Pick<CriClient, 'runtime' | 'image'>;
  reader: CgroupReader;
  config: Pick<
    KubeletConfiguration,
    | 'cgroupRoot'
    | 'cgroupDriver'
    | 'cgroupsPerQOS'
    | 'kubeletCgroups'
    | 'systemCgroups'
    | 'podLogsDir'
    | 'volumeStatsAggPeriod'
  >;
  featureGates: FeatureGates;
  flags: Pick<KubeletFlags, 'rootDir' | 'runtimeCgroups'>;
  log: Logger;
  /** ms since the epoch. */
  now: () => number;
  /** Volumes behind claims, once something mounts them. */
  claimed?: (pod: Pod) => readonly ClaimedVolume[];
  /** Told how long it took to count a volume's files, seconds. */
  onVolumeCounted?: (seconds: number, source: string) => void;
  /** Told each time that a driver calls a volume of a pod abnormal, and why. */
  onAbnormal?: (pod: Pod, volume: string, why: string) => void;
  /** Who knows what file systems count; absent where none do. */
  quotas?: Pick<ProjectQuotas, 'use'> | undefined;
  /** What it reads of the machine; the machine's own files by default. */
  machine?: Partial<MachineReaders>;
}

/** Ways to the machine; tests have their own. */
export interface MachineReaders {
  interfaces: (pid: number) => InterfaceReading[];
  sizes: ReadSizes;
  /** The device of the file system of a path; null when there is no such path. */
  device: (path: string) => Promise<string | null>;
  usage: (now: number) => MachineUsage;
  /** Where this process is accounted for; null when nowhere. */
  ownCgroup: () => string | null;
}

/** The machine's own files. */
export const machineReaders: MachineReaders = {
  interfaces: readInterfaces,
  sizes: sizesOf,
  device: async (path) => (await readFilesystem(path))?.device ?? null,
  usage: readMachineUsage,
  ownCgroup,
};
