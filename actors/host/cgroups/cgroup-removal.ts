import { readFile, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ActorletError } from '../../../machines/errors/define.ts';
import { backOffMs } from '../../../machines/values/back-off.ts';
import { hostErrors } from '../../../machines/errors/host-errors.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { CgroupHost } from '../files/cgroup-host.ts';
import { cgroupDirs } from './cgroup-files.ts';
import { codeOf, ignoring } from '../files/host-failure.ts';

/** How often a busy cgroup is tried again, and the waits: about one second in all. */
const BUSY = { tries: 10, firstMs: 1, maxMs: 512 };

/** Sends SIGKILL to all that runs in a cgroup and below it, in every hierarchy. */
export async function killCgroup(host: CgroupHost, path: string): Promise<void> {
  for (const dir of cgroupDirs(host, path)) killAll(await processesBelow(dir));
}

/**
 * Removes a cgroup with everything below it from every hierarchy, and kills what runs there. One that is not there is fine.
 *
 * @throws ActorletError HOST004 when it stays busy
 */
export async function removeCgroupTree(host: CgroupHost, path: string): Promise<void> {
  const failures: string[] = [];
  for (const dir of cgroupDirs(host, path)) {
    await removeTree(dir).catch((error: unknown) => failures.push(messageOf(error)));
  }
  if (failures.length > 0) throw new ActorletError(hostErrors.cgroupBusy, { path, reason: failures.join('; ') });
}

/** Nearly always nothing is left in it: then one call is all. Otherwise what runs in it is ended, and what is below it goes first. */
async function removeTree(dir: string): Promise<void> {
  for (let failures = 0; ; failures++) {
    try {
      await rmdir(dir);
      return;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return;
      if (!['EBUSY', 'ENOTEMPTY'].includes(codeOf(error)) || failures > BUSY.tries) throw error;
    }
    // Each time: a process may have been forked since the last look.
    killAll(await processesBelow(dir));
    if (failures > 0) await sleep(backOffMs(failures, BUSY));
    for (const entry of (await ignoring(readdir(dir, { withFileTypes: true }), 'ENOENT')) ?? [])
      if (entry.isDirectory()) await removeTree(join(dir, entry.name));
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
