import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { cgroupHierarchies } from '../../../cri/private-containerd/container-remains.ts';
import { listProcesses } from '../../../cri/private-containerd/processes.ts';
import { runCommand } from '../../../cri/private-containerd/run-command.ts';

/** What a test with real containers could leave behind, each kind as a sorted list of words. */
export type MachineState = Readonly<Record<MachinePart, readonly string[]>>;
type MachinePart = 'mounts' | 'netns' | 'cgroups' | 'processes' | 'links' | 'iptables' | 'shimSockets' | 'podLogs';

/** A picture of the machine, to be compared by {@link assertNothingLeft} when the test is over. */
export async function machineState(): Promise<MachineState> {
  const [mounts, netns, cgroups, processes, links, iptables, shimSockets, podLogs] = await Promise.all([
    mountPoints(),
    names('/run/netns'),
    allCgroups(),
    runtimeProcesses(),
    names('/sys/class/net'),
    natRules(),
    names('/run/containerd/s'),
    Promise.all([names('/var/log/pods'), names('/var/log/containers')]).then((lists) => lists.flat()),
  ]);
  const state = { mounts, netns, cgroups, processes, links, iptables, shimSockets, podLogs };
  for (const list of Object.values(state)) list.sort();
  return state;
}

/**
 * Fails when the machine holds something now that it did not hold before, naming each thing. What is still going away
 * (a dying process, a veth of a namespace that the kernel is taking down) gets five seconds.
 */
export async function assertNothingLeft(before: MachineState): Promise<void> {
  let left = whatIsNew(before, await machineState());
  for (let i = 0; left.length > 0 && i < 50; i++) {
    await sleep(100);
    left = whatIsNew(before, await machineState());
  }
  assert.deepEqual(left, [], 'left behind on the machine');
}

function whatIsNew(before: MachineState, after: MachineState): string[] {
  return (Object.keys(before) as MachinePart[]).flatMap((part) => {
    const known = new Map<string, number>();
    for (const item of before[part]) known.set(item, (known.get(item) ?? 0) + 1);
    return after[part].flatMap((item) => {
      const count = known.get(item) ?? 0;
      known.set(item, count - 1);
      return count > 0 ? [] : [`${part}: ${item}`];
    });
  });
}

async function mountPoints(): Promise<string[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).trim().split('\n');
  return lines.map((line) => line.split(' ')[4] ?? '');
}

async function allCgroups(): Promise<string[]> {
  const out: string[] = [];
  const walk = async (dir: string): Promise<void> => {
    for (const entry of await readdir(dir, { withFileTypes: true }).catch(() => [])) {
      if (!entry.isDirectory()) continue;
      out.push(`${dir}/${entry.name}`);
      await walk(`${dir}/${entry.name}`);
    }
  };
  await Promise.all((await cgroupHierarchies()).map(walk));
  return out;
}

/** Daemons and shims, and every process in a container's cgroup; not the many short-lived ones of a machine. */
async function runtimeProcesses(): Promise<string[]> {
  const all = await listProcesses();
  const out: string[] = [];
  for (const { pid, argv } of all) {
    const cgroup = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '');
    if (/containerd|kubelet/.test(argv[0] ?? '') || /\/(kubepods|actorlet|k8s\.io)/.test(cgroup)) {
      out.push(`${pid} ${argv.join(' ').slice(0, 200)}`);
    }
  }
  return out;
}

async function natRules(): Promise<string[]> {
  const saves = await Promise.all(['iptables-save', 'ip6tables-save'].map((tool) => runCommand(tool, [])));
  const lines = saves.flatMap(({ stdout }, i) => stdout.split('\n').map((line) => `v${i === 0 ? 4 : 6} ${line}`));
  // rules, and chains made by somebody (built-in ones have a policy)
  return lines
    .filter((line) => / -A /.test(line) || / :\S+ - /.test(line))
    .map((line) => line.replace(/ \[\d+:\d+\]$/, ''));
}

async function names(dir: string): Promise<string[]> {
  return readdir(dir).catch(() => []);
}
