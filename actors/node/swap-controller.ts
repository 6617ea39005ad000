import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CgroupHost } from '../host/files/cgroup-host.ts';
import { readText } from '../resources/machine/node-facts.ts';

/**
 * Can swap be limited on this machine? As kubelet sees it: by the file in the agent's own cgroup, which on v2 is there once the cgroups above it hand their
 * controllers down.
 */
export function limitsSwap({ version, mounts }: CgroupHost): boolean {
  if (version === 1) return existsSync(join(mounts['memory'] ?? '/nowhere', 'memory.memsw.limit_in_bytes'));
  const own = readText('/proc/self/cgroup')
    .trim()
    .split('\n')
    .find((line) => line.startsWith('0::'));
  return existsSync(join(mounts[''] ?? '/nowhere', own?.slice('0::'.length) ?? '', 'memory.swap.max'));
}
