import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ignoring } from '../files/host-failure.ts';
import type { HostSettings } from '../files/host-settings.ts';
import { foreignPlugins } from '../volumes/foreign-volumes.ts';
import { tearDownPod } from '../volumes/volumes.ts';
import type { OrphanRounds, Stays } from './orphans.ts';

/**
 * Removes pod folders that no pod owns (kubelet cleanupOrphanedPodDirs): pods that vanished while the agent was away. What is
 * mounted in one is unmounted first, and nothing is deleted through a mount. A folder stays while a container of its pod
 * lives, and where volumes of a driver lie in it that this agent does not have.
 *
 * @returns how many orphans there were and how many are left: failures are logged, and tried again in a later round
 */
export async function removeOrphanFolders(
  rounds: OrphanRounds,
  host: HostSettings,
  log: Logger,
): Promise<{ found: number; left: number }> {
  const entries = (await ignoring(readdir(join(host.rootDir, 'pods'), { withFileTypes: true }), 'ENOENT')) ?? [];
  // A link or file there is not ours, and is not followed.
  const uids = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return rounds.round('folder', uids, (uid) => removeFolder(uid, host, log));
}

async function removeFolder(podUID: string, host: HostSettings, log: Logger): Promise<Stays | null> {
  try {
    await host.askNode?.('volume.Unmount', { podUid: podUID });
    const plugins = await foreignPlugins(join(host.rootDir, 'pods', podUID));
    if (plugins.length > 0) {
      const tell = () => log.warn({ podUID, plugins }, 'Orphaned pod found, but volumes are not cleaned up');
      return { text: `volumes of ${plugins.join(', ')}`, tell };
    }
    await tearDownPod({ podUid: podUID }, host);
    log.info({ podUID }, 'Cleaned up orphaned pod volumes dir');
    return null;
  } catch (err) {
    const tell = () => log.error({ podUID, err }, 'Orphaned pod found, but failed to remove its folder');
    return { text: messageOf(err), tell };
  }
}
