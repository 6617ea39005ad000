import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { meminfoBytes } from '../machine/machine-facts.ts';
import type { CgroupReading } from '../cgroup-stats/cgroup-reading.ts';
import type { RlimitStats } from './summary.ts';

/** What a summary needs of the machine beside its cgroups. */
export interface MachineUsage {
  memoryBytes: number;
  swapBytes: number;
  /** Boot time, ms since the epoch. */
  bootedAt: number;
  rlimit: RlimitStats;
}

/** Reads some small files of /proc. @param now ms since the epoch */
export function readMachineUsage(now: number): MachineUsage {
  const meminfo = read('/proc/meminfo') ?? '';
  return {
    memoryBytes: meminfoBytes(meminfo, 'MemTotal'),
    swapBytes: meminfoBytes(meminfo, 'SwapTotal'),
    bootedAt: now - uptime() * 1000,
    rlimit: rlimitStats(now),
  };
}

/** The root cgroup has no limits of its own: as with cAdvisor, the machine's memory and swap are. */
export function withMachineLimits(reading: CgroupReading, machine: MachineUsage): CgroupReading {
  if (reading.memory === undefined) return reading;
  const memory = { ...reading.memory, limitBytes: machine.memoryBytes, swapLimitBytes: machine.swapBytes };
  return { ...reading, memory };
}

/**
 * The cgroup in which a process is accounted for (kubelet's getContainer), out of the text of `/proc/PID/cgroup`.
 * Null where cpu and memory of v1 are not in the same one.
 */
export function accountedCgroup(text: string): string | null {
  const paths = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, controllers = '', path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (path !== undefined) for (const name of controllers.split(',')) paths.set(name, path);
  }
  const cpu = paths.get('cpu');
  if (cpu === undefined) return paths.get('') ?? null;
  return cpu === paths.get('memory') ? (paths.get('name=systemd') ?? cpu) : null;
}

/** {@link accountedCgroup} of this process. */
export function ownCgroup(): string | null {
  return accountedCgroup(read('/proc/self/cgroup') ?? '');
}

function rlimitStats(now: number): RlimitStats {
  const limits = ['pid_max', 'threads-max']
    .map((name) => Number.parseInt(read(`/proc/sys/kernel/${name}`) ?? '', 10))
    .filter((limit) => !Number.isNaN(limit));
  // "0.52 0.58 0.59 2/1201 12345": tasks that run, and all
  const tasks = Number.parseInt(read('/proc/loadavg')?.split(' ')[3]?.split('/')[1] ?? '', 10);
  return {
    time: now * 1e6,
    ...(limits.length > 0 && { maxpid: Math.min(...limits) }),
    ...(!Number.isNaN(tasks) && { curproc: tasks }),
  };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
