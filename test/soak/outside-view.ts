import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RuntimeServiceService } from '../../cri/generated/runtime/v1/api.ts';
import { cgroupHierarchies } from '../../cri/private-containerd/container-remains.ts';
import { commandLine } from '../../cri/private-containerd/processes.ts';
import type { Pod } from '../cluster/support/api-objects.ts';
import type { ClusterNode } from '../cluster/support/cluster-node.ts';
import type { SeenContainer, ToldTimes } from './container-lives.ts';
import type { SeenCgroup, SeenProcess } from './invariants.ts';
import type { SeenPod } from './pod-rules.ts';

/** What the checker needs of a pod of the API server. */
export function seenPod(pod: Pod): SeenPod {
  const { initContainerStatuses = [], containerStatuses = [], phase = '' } = pod.status ?? {};
  const bare = (id: string | undefined): string => (id ?? '').replace(/^.*:\/\//, '');
  return {
    uid: pod.metadata?.uid ?? '',
    name: pod.metadata?.name ?? '',
    phase,
    containers: [...initContainerStatuses, ...containerStatuses].map((c) => ({
      name: c.name,
      restartCount: c.restartCount,
      running: c.state?.running === undefined ? null : bare(c.containerID),
      ids: [c.containerID, c.state?.terminated?.containerID, c.lastState?.terminated?.containerID]
        .map(bare)
        .filter((id) => id !== ''),
    })),
  };
}

/** The runtime's containers, by a client that knows nothing of the agent. */
export async function seenContainers(node: ClusterNode): Promise<SeenContainer[]> {
  return node.containers();
}

/** When a container began and ended, by the runtime's own account; null when it has it no more. */
export async function toldTimes(node: ClusterNode, containerId: string): Promise<ToldTimes | null> {
  const ask = node.containerd.cri.call(RuntimeServiceService.containerStatus, { containerId, verbose: false }, 10_000);
  const status = (await ask.catch(() => null))?.status;
  if (status === undefined) return null;
  const ms = (ns: string): number => Number(BigInt(ns) / 1_000n) / 1_000;
  return { startedAt: ms(status.startedAt), finishedAt: ms(status.finishedAt), exitCode: status.exitCode };
}

/** First process of each container below a cgroup, by container id, as /proc shows them. */
export async function containerProcesses(cgroupRoot: string): Promise<Map<string, SeenProcess>> {
  const out = new Map<string, SeenProcess>();
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  await Promise.all(
    pids.map(async (pid) => {
      const [cgroup, status, stat] = await Promise.all(
        ['cgroup', 'status', 'stat'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')),
      );
      if (cgroup === undefined || !cgroup.includes(`${cgroupRoot}/`)) return;
      const id = /\/([0-9a-f]{64})$/m.exec(cgroup)?.[1];
      // pid 1 of its own namespace, and no zombie
      if (id === undefined || !/^NSpid:.*\s1$/m.test(status ?? '') || /^State:\s+Z/m.test(status ?? '')) return;
      const fields = (stat ?? '').slice((stat ?? '').lastIndexOf(')') + 2).split(' ');
      out.set(id, { pid: Number(pid), began: fields[19] ?? '' });
    }),
  );
  return out;
}

/** Mount points below a folder. */
export async function mountsOf(dir: string): Promise<string[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  return lines.map((line) => line.split(' ')[4] ?? '').filter((point) => point.startsWith(`${dir}/`));
}

/** Cgroups of pods and containers below a node's root, in one hierarchy (they are the same in all). */
export async function cgroupsOf(cgroupRoot: string): Promise<string[]> {
  const all = await cgroupHierarchies();
  const hierarchy = all.find((dir) => dir.endsWith('/memory')) ?? all[0] ?? '';
  const entries = await readdir(join(hierarchy, cgroupRoot), { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && /\/pod[^/]+/.test(`${entry.parentPath}/${entry.name}`))
    .map((entry) => `${entry.parentPath}/${entry.name}`);
}

/** Cgroups of containers and sandboxes that hold a process. */
export async function busyCgroups(cgroupRoot: string): Promise<SeenCgroup[]> {
  const found = await Promise.all(
    (await cgroupsOf(cgroupRoot)).map(async (dir) => {
      const [, podUid, id] = /\/pod([^/]+)\/([0-9a-f]{64})$/.exec(dir) ?? [];
      if (podUid === undefined || id === undefined) return [];
      const procs = (await readFile(join(dir, 'cgroup.procs'), 'utf8').catch(() => '')).trim().split('\n');
      const lines = await Promise.all(procs.filter((pid) => pid !== '').map((pid) => commandLine(Number(pid))));
      // a container that a killed containerd was about to start: its program was never begun
      const begun = lines.some((argv) => argv.length > 0 && !(argv[0] === 'runc' && argv[1] === 'init'));
      return begun ? [{ podUid, id }] : [];
    }),
  );
  return found.flat();
}
