import { readFile, readdir } from 'node:fs/promises';
import type { Pod } from '../cluster/support/api-objects.ts';
import type { ClusterNode } from '../cluster/support/cluster-node.ts';
import type { SeenContainer, SeenPod, SeenProcess } from './invariants.ts';

/** What the checker needs of a pod of the API server. */
export function seenPod(pod: Pod): SeenPod {
  const { initContainerStatuses = [], containerStatuses = [], phase = '' } = pod.status ?? {};
  return {
    uid: pod.metadata?.uid ?? '',
    name: pod.metadata?.name ?? '',
    phase,
    restarts: Object.fromEntries([...initContainerStatuses, ...containerStatuses].map((c) => [c.name, c.restartCount])),
  };
}

/** The runtime's containers, by a client that knows nothing of the agent. */
export async function seenContainers(node: ClusterNode): Promise<SeenContainer[]> {
  return (await node.containers()).map(({ id, podUid, name, running }) => ({ id, podUid, name, running }));
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
