import type { Logger } from 'pino';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { QosCgroups } from '../../../machines/qos/pod-cgroup.ts';
import { cgroupDriver, cgroupHost } from '../cgroups/cgroup-driver.ts';
import { ownedCgroups, removePodCgroup, setBurstableShares, setMemoryMin } from '../cgroups/cgroups.ts';
import type { HostSettings } from '../files/host-settings.ts';
import { removeOrphanFolders } from './orphan-folders.ts';
import { OrphanRounds } from './orphans.ts';
import type { OrphanRoundsOptions, Stays } from './orphans.ts';

/** Time between two rounds, ms (kubelet housekeepingPeriod). Folders are only looked at; work is rare. */
const PERIOD_MS = 2_000;
/** Rounds from one look at the cgroups to the next. */
const CGROUP_ROUNDS = 5;

/** What housekeeping needs. */
export interface HousekeepingOptions extends OrphanRoundsOptions {
  host: HostSettings;
  /** Where pods' cgroups are; null when `cgroupsPerQOS` is off. */
  qos: QosCgroups | null;
  /** Nothing may be removed before all sources have spoken and the runtime was listed. */
  ready: () => boolean;
  /** Sum of the cpu shares of all burstable pods. */
  burstableShares: () => number;
  /** Memory that pods ask for, bytes: all of them, and burstable ones of them. Absent: it is not protected (gate MemoryQoS). */
  memoryMin?: () => { all: number; burstable: number };
  /** Holds each class of pods to the memory that better ones leave it; absent: nothing is kept for those (`qosReserved`). */
  holdMemory?: () => Promise<void>;
  log: Logger;
  /** Told of each round: folders of pods without an owner, and those of them that stay. */
  onOrphans?: (orphans: { found: number; left: number }) => void;
}

/** Removes what pods left that no actor owns: their folders, mounts and cgroups (HandlePodCleanups). */
export class Housekeeping {
  private readonly options: HousekeepingOptions;
  private timer: NodeJS.Timeout | undefined;
  private round: Promise<void> = Promise.resolve();
  private stopped = false;
  private shares = -1;
  private memory = '';
  private rounds = 0;
  private readonly orphans: OrphanRounds;

  constructor(options: HousekeepingOptions) {
    this.options = options;
    this.orphans = new OrphanRounds(options);
  }

  start(): void {
    this.timer = setTimeout(() => {
      this.round = this.once()
        .catch((error: unknown) => this.options.log.warn({ err: error }, 'Housekeeping failed'))
        .finally(() => {
          if (!this.stopped) this.start();
        });
    }, PERIOD_MS);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.round;
    this.orphans.close();
  }

  /** One round. What fails for one pod holds up no other. */
  async once(): Promise<void> {
    if (!this.options.ready()) return;
    try {
      if (this.options.qos !== null) await this.cgroups(this.options.qos);
    } finally {
      const orphans = await removeOrphanFolders(this.orphans, this.options.host, this.options.log);
      this.options.onOrphans?.(orphans);
    }
  }

  private async cgroups(qos: QosCgroups): Promise<void> {
    const { host } = this.options;
    const shares = this.options.burstableShares();
    if (shares !== this.shares) {
      await setBurstableShares(cgroupDriver(host), qos, shares);
      this.shares = shares;
    }
    const memory = this.options.memoryMin?.();
    if (memory !== undefined && this.memory !== JSON.stringify(memory)) {
      await setMemoryMin(cgroupDriver(host), qos, memory);
      this.memory = JSON.stringify(memory);
    }
    await this.options.holdMemory?.();
    // A pod's own actor removes its cgroup; what others left can wait some rounds (a look reads dozens of folders).
    if (this.rounds++ % CGROUP_ROUNDS !== 0) return;
    const owned = await ownedCgroups(cgroupHost(host), qos);
    await this.orphans.round('cgroup', owned.keys(), (uid) => this.removeCgroup(uid, owned.get(uid) ?? ''));
  }

  private async removeCgroup(podUID: string, cgroup: string): Promise<Stays | null> {
    const { host, log } = this.options;
    try {
      await removePodCgroup({ path: cgroup }, host);
      log.info({ podUID, cgroup }, 'Orphaned pod cgroup is removed');
      return null;
    } catch (err) {
      const tell = () => log.warn({ podUID, cgroup, err }, 'Orphaned pod cgroup cannot be removed');
      return { text: messageOf(err), tell };
    }
  }
}
