import type { Logger } from 'pino';
import type { VolumeSetup } from '../../../machines/protocol/effects.ts';
import type { Ask } from '../../../machines/protocol/ask.ts';
import type { CgroupHost } from './cgroup-host.ts';

/** What the executors of `host.*` and `net.*` effects must know of the node. Made once in each worker. */
export interface HostSettings {
  /** `--root-dir`; pods live in `<rootDir>/pods/<uid>`. */
  rootDir: string;
  /** `podLogsDir`, `/var/log/pods` by default. */
  podLogsDir: string;
  /** Folder of the links to container logs, `/var/log/containers` with kubelet. */
  containerLogsDir: string;
  cgroupVersion: 1 | 2;
  /** Who makes cgroups: the agent by folders, or systemd on its behalf. Must be the runtime's. */
  cgroupDriver: 'cgroupfs' | 'systemd';
  /** Where the cgroup file systems are; found by `detectCgroups` when absent. */
  cgroups?: CgroupHost;
  /** Asks the main thread for API objects and tokens; absent where there is no API server. */
  ask?: Ask;
  /** Asks the main thread for what it has without an API server, too: volumes that it sets up. Absent where there is no main thread. */
  askNode?: Ask;
  log: Logger;
  /** Told of each volume that was set up or failed to be, and of each pod whose volumes were taken down. */
  onVolume?: (report: VolumeReport) => void;
}

/** What became of volumes, for metrics; times in seconds. */
export type VolumeReport =
  | { did: 'mount'; podUid: string; volume: VolumeSetup; seconds: number; overallSeconds: number; failed: boolean }
  /** A volume of this plugin was given to the pod's group. */
  | { did: 'ownership'; plugin: string; seconds: number; failed: boolean }
  | { did: 'unmount'; podUid: string; seconds: number; failed: boolean };

/** Default of {@link HostSettings.containerLogsDir}. */
export const DEFAULT_CONTAINER_LOGS_DIR = '/var/log/containers';
