import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { CgroupHost } from '../files/cgroup-host.ts';

/** A cgroup's name as kubelet shows it: each part in quotes, `["kubepods" "burstable"]` (`%q` of its CgroupName). */
export function shownName(path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  return `[${parts.map((part) => JSON.stringify(part)).join(' ')}]`;
}

/** Hierarchies of v1 in which a cgroup has to be for kubelet to see it; further ones may be missing. */
const V1 = ['cpu', 'cpuacct', 'cpuset', 'hugetlb', 'memory', 'name=systemd', 'pids'];
/** Controllers of v2 that it has to have, as far as the machine has them. */
const V2 = ['cpu', 'cpuset', 'hugetlb', 'memory', 'pids'];

/** What a cgroup lacks to be one that limits can be set in, in kubelet's words (its Validate); null when it is all there. */
export function lackOf({ version, mounts, controllers }: CgroupHost, path: string): string | null {
  if (version === 1) {
    const wanted = V1.flatMap((name) => (mounts[name] === undefined ? [] : join(mounts[name], path)));
    const missing = [...new Set(wanted)].filter((dir) => !existsSync(dir));
    return missing.length === 0 ? null : `cgroup ${shownName(path)} has some missing paths: ${missing.join(', ')}`;
  }
  let has: string[];
  try {
    has = readFileSync(join(mounts[''] ?? '', path, 'cgroup.controllers'), 'utf8').split(/\s+/);
  } catch (error) {
    return `could not read controllers for cgroup ${shownName(path)}: ${messageOf(error)}`;
  }
  const missing = V2.filter((name) => controllers.includes(name) && !has.includes(name));
  return missing.length === 0 ? null : `cgroup ${shownName(path)} has some missing controllers: ${missing.join(', ')}`;
}
