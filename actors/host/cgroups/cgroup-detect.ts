import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ActorletError } from '../../../machines/errors/define.ts';
import { hostErrors } from '../../../machines/errors/host-errors.ts';
import { parseMountinfo } from '../files/mountinfo.ts';
import type { CgroupHost } from '../files/cgroup-host.ts';
import type { MountEntry } from '../files/mountinfo.ts';

/** v1 hierarchies in which libcontainer, and with it the kubelet and runc, make a cgroup for each pod. */
const V1_HIERARCHIES = [
  'cpuset',
  'devices',
  'memory',
  'cpu',
  'cpuacct',
  'pids',
  'blkio',
  'hugetlb',
  'net_cls',
  'net_prio',
  'perf_event',
  'freezer',
  'rdma',
  'name=systemd',
  'misc',
];

/** Controllers without which the kubelet refuses to start. */
const REQUIRED = { 1: ['cpu', 'cpuacct', 'cpuset', 'memory'], 2: ['cpu', 'cpuset', 'memory'] } as const;

/**
 * Finds the cgroup mounts from the text of `/proc/self/mountinfo`.
 *
 * @param options.mountinfo text to read instead of the machine's own
 * @param options.root directory below which mounts count, `/sys/fs/cgroup` by default
 * @throws ActorletError HOST001 when nothing is mounted, HOST002 when a needed controller is missing
 */
export function detectCgroups(options: { mountinfo?: string; root?: string } = {}): CgroupHost {
  const root = options.root ?? '/sys/fs/cgroup';
  const entries = parseMountinfo(options.mountinfo ?? readFileSync('/proc/self/mountinfo', 'utf8'));
  const below = entries.filter((entry) => entry.mountPoint === root || entry.mountPoint.startsWith(`${root}/`));
  const unified = below.find((entry) => entry.fsType === 'cgroup2');
  const host =
    unified !== undefined && unified.mountPoint === root ? openUnifiedRoot(root) : fromV1Mounts(below, unified);
  if (Object.keys(host.mounts).length === 0) throw new ActorletError(hostErrors.noCgroupMounts, { root });
  const missing = REQUIRED[host.version].filter((name) => !host.controllers.includes(name));
  if (missing.length > 0)
    throw new ActorletError(hostErrors.missingCgroupControllers, { root, missing: missing.join(', ') });
  return host;
}

/** A pure v2 tree at `root` (also a made-up one in a test): its controllers are those of `cgroup.controllers`. */
export function openUnifiedRoot(root: string): CgroupHost {
  const controllers = readFileSync(join(root, 'cgroup.controllers'), 'utf8').split(/\s+/).filter(Boolean);
  return { version: 2, controllers, mounts: { '': root } };
}

function fromV1Mounts(entries: MountEntry[], unified: MountEntry | undefined): CgroupHost {
  const mounts: Record<string, string> = {};
  for (const entry of entries) {
    if (entry.fsType !== 'cgroup') continue;
    for (const option of entry.superOptions) {
      if (V1_HIERARCHIES.includes(option)) mounts[option] ??= entry.mountPoint;
    }
  }
  const controllers = Object.keys(mounts).filter((name) => !name.startsWith('name='));
  // Hybrid: runc also joins the unified tree there, so the pod's cgroup must be made and removed in it.
  if (controllers.length > 0 && unified !== undefined) mounts[''] = unified.mountPoint;
  return { version: 1, controllers, mounts };
}
