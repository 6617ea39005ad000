import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process and the words it was started with. */
export interface RunningProcess {
  pid: number;
  argv: string[];
}

/** All processes with a command line (kernel threads and zombies have none). */
export async function listProcesses(): Promise<RunningProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const all = await Promise.all(pids.map(async (pid) => ({ pid, argv: await commandLine(pid) })));
  return all.filter((process) => process.argv.length > 0);
}

/** The command line of a process; empty when it is gone or a zombie. */
export async function commandLine(pid: number): Promise<string[]> {
  try {
    const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
    words.pop();
    return words;
  } catch {
    return [];
  }
}

/** The containerd that runs with this configuration file, whoever started it; null when there is none. */
export async function findContainerd(configFile: string, pidFile: string): Promise<number | null> {
  const noted = Number(await readFile(pidFile, 'utf8').catch(() => ''));
  // a pid may have been given to another process since: its command line decides
  if (Number.isInteger(noted) && noted > 1 && isContainerd(await commandLine(noted), configFile)) return noted;
  return (await listProcesses()).find((process) => isContainerd(process.argv, configFile))?.pid ?? null;
}

/** The shims that were started by the containerd on this socket. */
export async function findShims(socket: string): Promise<number[]> {
  const processes = await listProcesses();
  return processes
    .filter(({ argv }) => /containerd-shim/.test(argv[0] ?? '') && argv[argv.indexOf('-address') + 1] === socket)
    .map(({ pid }) => pid);
}

/** True while the process exists (a zombie does not count). */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    return !/^\d+ \(.*\) [ZX]/s.test(stat);
  } catch {
    return false;
  }
}

/** Sends a signal; true when the process existed. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** SIGTERM, then SIGKILL after `graceMs`; resolves when the process is gone (true) or after 5 s more (false). */
export async function endProcess(pid: number, graceMs: number): Promise<boolean> {
  for (const [signal, waitMs] of [
    ['SIGTERM', graceMs],
    ['SIGKILL', 5_000],
  ] as const) {
    if (!sendSignal(pid, signal)) return true;
    const until = performance.now() + waitMs;
    while (performance.now() < until) {
      if (!(await isAlive(pid))) return true;
      await sleep(15);
    }
  }
  return !(await isAlive(pid));
}

function isContainerd(argv: readonly string[], configFile: string): boolean {
  const at = argv.findIndex((word) => word === '-c' || word === '--config');
  return /(^|\/)containerd[^/]*$/.test(argv[0] ?? '') && at > 0 && argv[at + 1] === configFile;
}
