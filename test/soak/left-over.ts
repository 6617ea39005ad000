import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RuntimeServiceService } from '../../cri/generated/runtime/v1/api.ts';
import { containerdLayout } from '../../cri/private-containerd/layout.ts';
import { findShims } from '../../cri/private-containerd/processes.ts';
import { busyCgroups, cgroupsOf, mountsOf } from './outside-view.ts';
import { vethsOf } from './samples.ts';
import type { SoakedNode } from './soaked-node.ts';

/** What is on a node that belongs to no living pod, by who is to take it away. */
export interface LeftOver {
  /** The agent, or what it can see of through CRI. */
  agent: string[];
  /** The runtime: CRI does not tell of it. A containerd that is killed while it makes a sandbox loses its shim and its network. */
  runtime: string[];
}

/** What is on the node that belongs to no pod with one of these UIDs, and pods of the API that are not expected. */
export async function leftOver(lab: SoakedNode, uids: ReadonlySet<string>): Promise<LeftOver> {
  const { node } = lab;
  const names = (dir: string): Promise<string[]> => readdir(dir).catch(() => []);
  const [pods, containers, sandboxes, folders, logs, mounts, cgroups, busy] = await Promise.all([
    lab.space.pods('soak=yes'),
    node.containers(),
    node.containerd.cri.pods(),
    names(join(node.agentRoot, 'pods')),
    names(join(node.dir, 'pod-logs')),
    mountsOf(node.dir),
    cgroupsOf(node.cgroupRoot),
    busyCgroups(node.cgroupRoot),
  ]);
  const own = (text: string): boolean => [...uids].some((uid) => text.includes(uid));
  const known = new Set([...sandboxes, ...containers].map((one) => one.id));
  const isKnown = (text: string): boolean => [...known].some((id) => text.includes(id));
  const [ours, theirs] = [`${node.agentRoot}/pods/`, `${node.dir}/containerd/`];
  const isNetns = (mount: string): boolean => mount.includes('/netns/');
  const more = (what: string, count: number): string[] =>
    count > sandboxes.length ? [`${what}: ${count} for ${sandboxes.length} sandboxes`] : [];
  return {
    agent: [
      ...pods.filter((p) => !uids.has(p.metadata?.uid ?? '')).map((p) => `API: ${p.metadata?.name ?? ''}`),
      ...containers.filter((c) => !uids.has(c.podUid)).map((c) => `container: ${c.pod}/${c.name} ${c.id}`),
      ...sandboxes
        .filter((s) => !uids.has(s.metadata?.uid ?? ''))
        .map((s) => `sandbox: ${s.metadata?.name ?? ''} ${s.id}`),
      ...folders.filter((name) => !own(name)).map((name) => `folder: ${name}`),
      ...logs.filter((name) => !own(name)).map((name) => `logs: ${name}`),
      ...mounts.filter((m) => m.startsWith(ours) && !own(m)).map((m) => `mount: ${m}`),
      ...cgroups.filter((c) => !own(c)).map((c) => `cgroup: ${c}`),
      ...busy.filter((c) => !known.has(c.id)).map((c) => `processes: ${c.podUid}/${c.id}`),
    ],
    runtime: [
      ...mounts
        .filter((m) => m.startsWith(theirs) && /\/(sandboxes|rootfs)\b/.test(m) && !isKnown(m))
        .map((m) => `mount: ${m}`),
      ...more('network namespaces', mounts.filter(isNetns).length),
      ...more('network interfaces', await vethsOf(node)),
      ...more('shims', (await findShims(containerdLayout(node.containerd.rootDir).socket)).length),
    ],
  };
}

/** Containers of no living pod, when the runtime was asked once more to remove them; each as `pod/name id: its words`. */
export interface AskedAgain {
  /** It refuses: containerd 1.6 keeps the task of a StartContainer whose client was killed, until it is restarted itself. */
  refused: string[];
  /** It does as it is told: the agent has forgotten them. */
  forgotten: string[];
}

/** Asks the runtime once more to remove what belongs to no pod with one of these UIDs, by another client than the agent. */
export async function askAgain(lab: SoakedNode, uids: ReadonlySet<string>): Promise<AskedAgain> {
  const out: AskedAgain = { refused: [], forgotten: [] };
  for (const { id, pod, podUid, name } of await lab.node.containers()) {
    if (uids.has(podUid)) continue;
    const what = `${pod}/${name} ${id}`;
    await lab.node.containerd.cri
      .call(RuntimeServiceService.removeContainer, { containerId: id }, 10_000)
      .then(() => out.forgotten.push(what))
      .catch((error: unknown) =>
        out.refused.push(`${what}: ${error instanceof Error ? error.message : String(error)}`),
      );
  }
  return out;
}
