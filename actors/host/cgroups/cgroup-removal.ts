import { readFile, readdir, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ActorletError } from '../../../machines/errors/define.ts';
import { hostErrors } from '../../../machines/errors/host-errors.ts';
import type { CgroupHost } from '../files/cgroup-host.ts';
import { cgroupDirs } from './cgroup-files.ts';
import { codeOf, ignoring, textOf } from '../files/host-failure.ts';

/** How often a busy cgroup is tried again, with waits of 1, 2, 4 ... ms: about one second in all. */
const BUSY_TRIES = 10;

/**
 * Removes a pod's cgroup with everything below it from every hierarchy, after SIGKILL to the processes left in it.
 * A cgroup that is not there is fine.
 *
 * @throws ActorletError HOST003 when `path` is no pod's cgroup, HOST004 when it stays busy
 */
export async function removePodCgroupTree(host: CgroupHost, path: string): Promise<void> {
  const uid = podUidOf(basename(path));
  if (uid === undefined || path.split('/').includes('..')) throw new ActorletError(hostErrors.notPodCgroup, { path });
  const dirs = cgroupDirs(host, path);
  for (const dir of dirs) killAll(await processesBelow(dir));
  const failures: string[] = [];
  for (const dir of dirs) {
    await removeTree(dir).catch((error: unknown) => failures.push(textOf(error)));
  }
  if (failures.length > 0) throw new ActorletError(hostErrors.cgroupBusy, { path, reason: failures.join('; ') });
}

/** The UID in a pod cgroup's last part (`pod<uid>`); undefined for any other name. */
export function podUidOf(name: string): string | undefined {
  return /^pod(?=.)(?!.*\/)(.+)$/.exec(name)?.[1];
}

async function removeTree(dir: string): Promise<void> {
  const entries = await ignoring(readdir(dir, { withFileTypes: true }), 'ENOENT');
  if (entries === undefined) return;
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(dir, entry.name));
  for (let attempt = 0; ; attempt++) {
    try {
      await rmdir(dir);
      return;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return;
      if (codeOf(error) !== 'EBUSY' || attempt === BUSY_TRIES) throw error;
      // A process may have been forked since the first look.
      killAll(await processesBelow(dir));
      await sleep(2 ** attempt);
    }
  }
}

async function processesBelow(dir: string): Promise<Set<number>> {
  const pids = new Set<number>();
  const procs = await ignoring(readFile(join(dir, 'cgroup.procs'), 'utf8'), 'ENOENT', 'ENODEV', 'EOPNOTSUPP');
  for (const line of (procs ?? '').split('\n')) {
    const pid = Number(line);
    if (Number.isInteger(pid) && pid > 1 && pid !== process.pid) pids.add(pid);
  }
  for (const entry of (await ignoring(readdir(dir, { withFileTypes: true }), 'ENOENT')) ?? []) {
    if (entry.isDirectory()) for (const pid of await processesBelow(join(dir, entry.name))) pids.add(pid);
  }
  return pids;
}

function killAll(pids: Set<number>): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (codeOf(error) !== 'ESRCH') throw error;
    }
  }
}
