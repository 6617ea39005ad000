import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ignoring } from '../files/host-failure.ts';
import type { HostSettings } from '../files/host-settings.ts';
import { PLUGIN_FOLDERS } from '../files/pod-paths.ts';
import { tearDownPod } from '../volumes/volumes.ts';
import { RetryTimes } from './retry-times.ts';

/** What {@link OrphanFolders} needs. */
export interface OrphanFolderOptions {
  host: HostSettings;
  /** A pod of this UID has an actor, or the runtime still holds something of it. */
  alive: (uid: string) => boolean;
  log: Logger;
  now: () => number;
}

/**
 * Pod folders that no pod owns (kubelet cleanupOrphanedPodDirs): pods that vanished while the agent was away. What is
 * mounted in one is unmounted first, and nothing is deleted through a mount. A folder stays while a container of its pod
 * lives, and where volumes of a driver lie in it that this agent does not have.
 */
export class OrphanFolders {
  private readonly options: OrphanFolderOptions;
  private readonly retry = new RetryTimes();

  constructor(options: OrphanFolderOptions) {
    this.options = options;
  }

  /** One round; failures are logged and tried again later. Tells how many orphans there were and how many are left. */
  async once(): Promise<{ found: number; left: number }> {
    const { host, alive, log, now } = this.options;
    const entries = (await ignoring(readdir(join(host.rootDir, 'pods'), { withFileTypes: true }), 'ENOENT')) ?? [];
    // A link or file there is not ours, and is not followed.
    const orphans = entries.filter((entry) => entry.isDirectory() && !alive(entry.name)).map((entry) => entry.name);
    this.retry.keepOnly(new Set(orphans));
    let left = 0;
    for (const uid of orphans) {
      // It may have come to life while another one was removed.
      if (alive(uid)) continue;
      if (!this.retry.due(uid, now())) {
        left++;
        continue;
      }
      try {
        const foreign = await foreignVolumes(join(host.rootDir, 'pods', uid, 'volumes'));
        if (foreign.length > 0) {
          left++;
          const text = `volumes of ${foreign.join(', ')}`;
          if (this.retry.failed(uid, now(), text))
            log.warn({ podUID: uid, plugins: foreign }, 'Orphaned pod found, but volumes are not cleaned up');
          continue;
        }
        await tearDownPod({ podUid: uid }, host);
        log.info({ podUID: uid }, 'Cleaned up orphaned pod volumes dir');
      } catch (error) {
        left++;
        if (this.retry.failed(uid, now(), messageOf(error)))
          log.error({ podUID: uid, err: error }, 'Orphaned pod found, but failed to remove its folder');
      }
    }
    return { found: orphans.length, left };
  }
}

/** Plugins with volumes in the folder that this agent has not made: their data is not ours to delete. */
async function foreignVolumes(volumesDir: string): Promise<string[]> {
  const found: string[] = [];
  for (const plugin of (await ignoring(readdir(volumesDir), 'ENOENT', 'ENOTDIR')) ?? []) {
    if ((PLUGIN_FOLDERS as readonly string[]).includes(plugin)) continue;
    const volumes = await ignoring(readdir(join(volumesDir, plugin)), 'ENOENT', 'ENOTDIR');
    if (volumes === undefined || volumes.length > 0) found.push(plugin);
  }
  return found;
}
