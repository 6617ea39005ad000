import { readFileSync, readdirSync } from 'node:fs';

/** What a process and all its children have used so far. */
export interface Usage {
  cpuMs: number;
  rssMiB: number;
  /** What of it is no file's. */
  anonMiB: number;
}

/** CPU time (ended children count, too) and resident memory of a process tree. */
export function usageOfTree(root: number): Usage {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(statOf(Number(name))?.[1]);
    if (Number.isInteger(parent)) parents.set(Number(name), parent);
  }
  const tree = [root];
  for (const pid of tree) for (const [child, parent] of parents) if (parent === pid) tree.push(child);
  let cpuMs = 0;
  let [rssKiB, anonKiB] = [0, 0];
  for (const pid of tree) {
    const stat = statOf(pid);
    if (stat === undefined) continue;
    // utime, stime, and those of children that were waited for; in ticks of 10 ms
    cpuMs += [11, 12, 13, 14].reduce((sum, i) => sum + Number(stat[i]), 0) * 10;
    const status = read(`/proc/${pid}/status`);
    rssKiB += Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
    anonKiB += Number(/RssAnon:\s+(\d+)/.exec(status)?.[1] ?? 0);
  }
  return { cpuMs, rssMiB: Math.round(rssKiB / 1024), anonMiB: Math.round(anonKiB / 1024) };
}

/** Fields of /proc/PID/stat from the state on: [0] is field 3. */
function statOf(pid: number): string[] | undefined {
  const text = read(`/proc/${pid}/stat`);
  return text === '' ? undefined : text.slice(text.lastIndexOf(') ') + 2).split(' ');
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
