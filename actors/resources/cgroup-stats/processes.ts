import { readdirSync, readlinkSync } from 'node:fs';
import { readSmall } from './small-files.ts';
import type { ProcessReading } from './cgroup-reading.ts';

/** PIDs in a cgroup's folder, undefined when it is gone. */
export function readPids(folder: string): number[] | undefined {
  const text = readSmall(`${folder}/cgroup.procs`);
  if (text === undefined) return undefined;
  return text === '' ? [] : text.trimEnd().split('\n').map(Number);
}

/**
 * Processes of a cgroup alone, as cAdvisor counts them: open files and sockets of all of them by `/proc/PID/fd`.
 *
 * @param threads of the pids controller, which counts the cgroups below as well
 */
export function readProcesses(
  pids: readonly number[],
  threads: { current: number; max: number | null },
  withFiles: boolean,
): ProcessReading {
  let fileDescriptors = 0;
  let sockets = 0;
  if (withFiles) {
    for (const pid of pids) {
      const names = openFiles(pid);
      fileDescriptors += names.length;
      for (const name of names) if (isSocket(`/proc/${pid}/fd/${name}`)) sockets++;
    }
  }
  return { processes: pids.length, threads: threads.current, threadsMax: threads.max, fileDescriptors, sockets };
}

/** Soft limit of open files of a process (`Max open files`); -1 = unlimited, null when the process is gone. */
export function readOpenFilesLimit(pid: number): number | null {
  const found = /^Max open files\s+(\S+)/m.exec(readSmall(`/proc/${pid}/limits`) ?? '');
  if (found === null) return null;
  return found[1] === 'unlimited' ? -1 : Number(found[1]);
}

function openFiles(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`);
  } catch {
    return []; // it has ended
  }
}

function isSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith('socket');
  } catch {
    return false; // closed since
  }
}
