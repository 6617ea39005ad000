import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { mountsIn } from '../files/mounts.ts';
import { PLUGIN_FOLDERS } from '../files/pod-paths.ts';
import { openWithin } from '../strange/open-within.ts';
import { strangeFiles } from '../strange/strange-files.ts';

/** What a `subPath` leads to, held open so that nobody can exchange it. */
export interface OpenedSource {
  /** Leads to the open file itself, for this process and others. */
  path: string;
  directory: boolean;
  /** Is this what is mounted at `target`? */
  isAt: (target: string) => Promise<boolean>;
  close: () => Promise<void>;
}

/**
 * Opens `<volume>/<subPath>` and makes what is missing. A volume of ours is walked here; where a file system of others is on
 * the way (a hostPath, or what a container mounted in the volume), another process does it, since it may hang.
 */
export async function openedSource(podDir: string, volumePath: string, subPath: string): Promise<OpenedSource> {
  const own = PLUGIN_FOLDERS.some((plugin) => volumePath.startsWith(join(podDir, 'volumes', plugin, '/')));
  return own && (await mountsIn(volumePath)).length <= 1
    ? openedHere(volumePath, subPath)
    : openedThere(volumePath, subPath);
}

async function openedHere(volumePath: string, subPath: string): Promise<OpenedSource> {
  const handle = await openWithin(volumePath, subPath);
  const source = await handle.stat();
  return {
    path: `/proc/${process.pid}/fd/${handle.fd}`,
    directory: source.isDirectory(),
    isAt: async (target) => {
      const there = await lstat(target);
      return there.dev === source.dev && there.ino === source.ino;
    },
    close: () => handle.close(),
  };
}

async function openedThere(volumePath: string, subPath: string): Promise<OpenedSource> {
  const { opened, pid, close } = await strangeFiles.open(volumePath, subPath);
  return {
    path: `/proc/${pid}/fd/${opened.fd}`,
    directory: opened.directory,
    isAt: async (path) => (await strangeFiles.call({ do: 'identity', path })).identity === opened.identity,
    close: () => Promise.resolve(close()),
  };
}
