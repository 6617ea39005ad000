import { readdir, stat, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ignoring } from '../files/host-failure.ts';
import type { HostSettings } from '../files/host-settings.ts';
import { removeTree } from '../files/remove-tree.ts';
import { removeContainerLog } from './log-links.ts';

const SUFFIX = '.log';

/** Logs of pods on this machine, for those who remove what nobody needs any more. */
export interface PodLogs {
  /** Names of the folders in `podLogsDir`. Rejects when it cannot be read. */
  folders(): Promise<string[]>;
  /** Names of links in the folder of container logs that lead nowhere. */
  deadLinks(): Promise<string[]>;
  removeFolder(name: string): Promise<void>;
  removeLink(name: string): Promise<void>;
  /** A dead container's log, its rotated parts and its link. */
  removeLog(log: { logPath: string; linkName: string }): Promise<void>;
}

/** UID of the pod that a folder of logs belongs to, `<namespace>_<name>_<uid>`: what follows the last underscore. */
export function uidOfLogFolder(name: string): string {
  return name.slice(name.lastIndexOf('_') + 1);
}

/** Id of the container whose log a link leads to, `<pod>_<namespace>_<container>-<id>.log`; '' when the name has none. */
export function idOfLogLink(name: string): string {
  const dash = name.lastIndexOf('-');
  return dash < 0 || !name.endsWith(SUFFIX) ? '' : name.slice(dash + 1, -SUFFIX.length);
}

/** The logs of this machine. */
export function podLogs(settings: HostSettings): PodLogs {
  const { podLogsDir, containerLogsDir } = settings;
  return {
    async folders() {
      try {
        return await readdir(podLogsDir);
      } catch (error) {
        const problem = `failed to read podLogsDirectory "${podLogsDir}": ${messageOf(error)}`;
        throw new Error(problem, { cause: error });
      }
    },
    async deadLinks() {
      const dead: string[] = [];
      for (const entry of (await ignoring(readdir(containerLogsDir, { withFileTypes: true }), 'ENOENT')) ?? []) {
        if (!entry.isSymbolicLink() || !entry.name.endsWith(SUFFIX)) continue;
        if ((await ignoring(stat(join(containerLogsDir, entry.name)), 'ENOENT')) === undefined) dead.push(entry.name);
      }
      return dead;
    },
    removeFolder: (name) => removeTree(join(podLogsDir, basename(name))),
    removeLink: async (name) => void (await ignoring(unlink(join(containerLogsDir, basename(name))), 'ENOENT')),
    removeLog: async (log) => void (await removeContainerLog(log, settings)),
  };
}
