import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { cgroupHost, ownedCgroups, removePodCgroup, setBurstableShares } from '../host/cgroups.ts';
import type { HostSettings } from '../host/host-settings.ts';
import { tearDownPod } from '../host/volumes.ts';

/** Time between two rounds, ms (kubelet housekeepingPeriod). Folders are only looked at; work is rare. */
const PERIOD_MS = 2_000;

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
}

/** Removes what pods left that no actor owns: their folders, mounts and cgroups (HandlePodCleanups). */
export class Housekeeping {
  private readonly options: HousekeepingOptions;
  private timer: NodeJS.Timeout | undefined;
  private round: Promise<void> = Promise.resolve();
  private stopped = false;
  private shares = -1;

  constructor(options: HousekeepingOptions) {
    this.options = options;
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

  /** One round. */
  async once(): Promise<void> {
    const { host, kubepods, alive, ready, log } = this.options;
    if (!ready()) return;
    if (kubepods !== null) {
      const shares = this.options.burstableShares();
      if (shares !== this.shares) {
        await setBurstableShares(cgroupHost(host), kubepods, shares);
        this.shares = shares;
      }
      for (const [uid, path] of await ownedCgroups(cgroupHost(host), kubepods)) {
        if (alive(uid)) continue;
        log.info({ podUID: uid, cgroup: path }, 'Orphaned pod cgroup is removed');
        await removePodCgroup({ path }, host);
      }
    }
    const folders = await readdir(join(host.rootDir, 'pods')).catch(() => []);
    for (const uid of folders) {
      if (alive(uid)) continue;
      log.info({ podUID: uid }, 'Cleaned up orphaned pod volumes dir');
      await tearDownPod({ podUid: uid }, host);
    }
  }
}
