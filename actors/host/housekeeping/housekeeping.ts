import type { Logger } from 'pino';
import { messageOf } from '../../../machines/values/message-of.ts';
import { cgroupHost, ownedCgroups, removePodCgroup, setBurstableShares } from '../cgroups/cgroups.ts';
import type { HostSettings } from '../files/host-settings.ts';
import { OrphanFolders } from './orphan-folders.ts';
import { RetryTimes } from './retry-times.ts';

/** Time between two rounds, ms (kubelet housekeepingPeriod). Folders are only looked at; work is rare. */
const PERIOD_MS = 2_000;
/** Rounds from one look at the cgroups to the next. */
const CGROUP_ROUNDS = 5;

/** What housekeeping needs. */
export interface HousekeepingOptions {
  host: HostSettings;
  /** `/kubepods` below `cgroupRoot`; null when `cgroupsPerQOS` is off. */
  kubepods: string | null;
  /** A pod of this UID has an actor, or the runtime still holds something of it. */
  alive: (uid: string) => boolean;
  /** Nothing may be removed before all sources have spoken and the runtime was listed. */
  ready: () => boolean;
  /** Sum of the cpu shares of all burstable pods. */
  burstableShares: () => number;
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
  private rounds = 0;
  private readonly folders: OrphanFolders;
  private readonly cgroupRetry = new RetryTimes();

  constructor(options: HousekeepingOptions) {
    this.options = options;
    const { host, alive, log } = options;
    this.folders = new OrphanFolders({ host, alive, log, now: () => performance.now() });
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
  }

  /** One round. What fails for one pod holds up no other. */
  async once(): Promise<void> {
    if (!this.options.ready()) return;
    try {
      if (this.options.kubepods !== null) await this.cgroups(this.options.kubepods);
    } finally {
      const orphans = await this.folders.once();
      this.options.onOrphans?.(orphans);
    }
  }

  private async cgroups(kubepods: string): Promise<void> {
    const { host, alive, log } = this.options;
    const shares = this.options.burstableShares();
    if (shares !== this.shares) {
      await setBurstableShares(cgroupHost(host), kubepods, shares);
      this.shares = shares;
    }
    // A pod's own actor removes its cgroup; what others left can wait some rounds (a look reads dozens of folders).
    if (this.rounds++ % CGROUP_ROUNDS !== 0) return;
    const owned = await ownedCgroups(cgroupHost(host), kubepods);
    this.cgroupRetry.keepOnly(new Set(owned.keys()));
    for (const [uid, path] of owned) {
      if (alive(uid) || !this.cgroupRetry.due(uid, performance.now())) continue;
      try {
        await removePodCgroup({ path }, host);
        log.info({ podUID: uid, cgroup: path }, 'Orphaned pod cgroup is removed');
      } catch (error) {
        if (this.cgroupRetry.failed(uid, performance.now(), messageOf(error)))
          log.warn({ podUID: uid, cgroup: path, err: error }, 'Orphaned pod cgroup cannot be removed');
      }
    }
  }
}
