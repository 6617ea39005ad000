import { readFileSync, readlinkSync } from 'node:fs';

/** Unit of /proc's processor times, ms (`getconf CLK_TCK` is 100 on every Linux that Node runs on). */
const TICK_MS = 10;

/** The kernel's id of the thread that asks; null where there is no /proc/thread-self. */
export function ownThread(): number | null {
  try {
    const id = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    return Number.isInteger(id) ? id : null;
  } catch {
    return null;
  }
}

/** Processor time that a thread of this process has used, ms, in steps of 10; null when it is gone. Source: proc_pid_stat(5). */
export function threadCpuMs(thread: number): number | null {
  try {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
    // The name, in brackets, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return null;
  }
}
