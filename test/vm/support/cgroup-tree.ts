import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { Machine } from './machine.ts';

/** Files of a cgroup that tell what an agent has set. */
export const LIMIT_FILES = [
  ...['cpu.weight', 'cpu.max', 'cpuset.cpus', 'pids.max'],
  ...['memory.max', 'memory.min', 'memory.low', 'memory.high', 'memory.swap.max', 'memory.oom.group'],
  ...['hugetlb.2MB.max', 'hugetlb.2MB.rsvd.max'],
] as const;

/** Values by file, by path of the cgroup. */
export type CgroupTree = Record<string, Record<string, string>>;

/** All cgroups of pods (slices, and scopes of containers unless `slices`), with their limits. */
export async function podCgroups(machine: Machine, { slices = false } = {}): Promise<CgroupTree> {
  const files = LIMIT_FILES.map((name) => `--include=${name}`).join(' ');
  const text = await machine.run(`cd /sys/fs/cgroup && ! [ -e kubepods.slice ] || grep -rs . kubepods.slice ${files}`);
  const tree: CgroupTree = {};
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, path = '', file = '', value = ''] = /^(.*)\/([^/:]+):(.*)$/.exec(line) ?? [];
    if (slices && path.includes('.scope')) continue;
    (tree[path] ??= {})[file] = value;
  }
  return tree;
}

/** With names in the place of UIDs and ids: of pods, and of their containers (`sandbox` for what a pod does not name). */
export function named(tree: CgroupTree, pods: ReadonlyMap<string, Pod>): CgroupTree {
  const out: CgroupTree = {};
  for (const [path, values] of Object.entries(tree)) {
    let name = path;
    for (const [pod, { metadata, status }] of pods) {
      name = name.replaceAll((metadata?.uid ?? '').replaceAll('-', '_'), pod);
      for (const { name: container, containerID = '' } of status?.containerStatuses ?? [])
        name = name.replace(`cri-containerd-${containerID.replace('containerd://', '')}.scope`, container);
    }
    out[name.replace(/cri-containerd-[0-9a-f]{64}\.scope/, 'sandbox')] = values;
  }
  return out;
}
