import { readdirSync, statSync } from 'node:fs';
import { uptime } from 'node:os';
import { createDeviceNames } from './block-io.ts';
import { readPids } from './processes.ts';
import { readV1 } from './read-v1.ts';
import { readV2 } from './read-v2.ts';
import type { CgroupHost } from '../../host/files/cgroup-host.ts';
import type { CgroupReader, WithoutParts } from './cgroup-reading.ts';
import type { ReadingParts } from './read-v1.ts';

/**
 * Reads this machine's cgroups by synchronous reads of small files: a cgroup takes some tenths of a millisecond, and
 * going through the thread pool for each of its files would take longer. Only times of creation are kept, since the kernel
 * forgets them (see {@link createdAtOf}).
 *
 * @param host what `detectCgroups` found, also a made-up tree
 * @param now ms since the epoch, `Date.now` by default
 */
export function createCgroupReader(host: CgroupHost, now: () => number = Date.now): CgroupReader {
  const devices = createDeviceNames();
  const created = new Map<string, Created>();
  // cAdvisor: no cgroup is older than the machine; whole minutes, since uptime is read at another moment than the clock
  const bootedAt = Math.floor((now() - uptime() * 1000) / 60_000) * 60_000;
  const main = host.version === 2 ? host.mounts[''] : (host.mounts.cpu ?? host.mounts.cpuacct);
  const folder = (mount: string | undefined, cgroup: string) =>
    mount === undefined ? undefined : cgroup === '/' ? mount : `${mount}${cgroup}`;
  const mountsOfTime = host.version === 2 ? [main] : [main, host.mounts.memory];

  /** Null when the main hierarchy has no such cgroup. */
  const createdAt = (cgroup: string, at: number): number | null => {
    let known = created.get(cgroup);
    for (const mount of mountsOfTime) {
      const path = folder(mount, cgroup);
      const found = path === undefined ? undefined : createdAtOf(path, host.version);
      if (found === undefined && mount === main) {
        created.delete(cgroup);
        return null;
      }
      if (found === undefined) continue;
      // another inode in the same hierarchy: the cgroup was removed and made again
      if (known === undefined || (mount === main && known.inode !== found.inode)) known = { ...found };
      else known.at = Math.min(known.at, found.at);
    }
    if (known === undefined) return null;
    created.set(cgroup, known);
    return Math.min(at, Math.max(known.at, bootedAt));
  };

  const readParts = (path: string, cgroup: string, without: WithoutParts): ReadingParts => {
    if (host.version === 2) return readV2(path, devices, without);
    const of = (controller: string) => folder(host.mounts[controller], cgroup);
    const [pids, blkio] = [cgroup === '/' ? undefined : of('pids'), of('blkio')];
    return readV1({ cpu: of('cpu'), cpuacct: of('cpuacct'), memory: of('memory'), pids, blkio }, devices, without);
  };

  return {
    read: (cgroup, without = {}) => {
      const path = folder(main, cgroup);
      const at = now();
      if (path === undefined) return null;
      if (without.createdAt !== true) {
        const since = createdAt(cgroup, at);
        return since === null ? null : { at, createdAt: since, ...readParts(path, cgroup, without) };
      }
      const parts = readParts(path, cgroup, without);
      // What of the main hierarchy could be read is there; only where nothing could is the folder looked for.
      const there = parts.cpu !== undefined || parts.processes !== undefined || isFolder(path);
      return there ? { at, createdAt: 0, ...parts } : null;
    },
    tree: (from) => {
      const found: string[] = [];
      const path = folder(main, from);
      if (path !== undefined && isFolder(path)) addTree(path, from, found);
      const alive = new Set(found);
      const prefix = from === '/' ? '/' : `${from}/`;
      for (const cgroup of created.keys()) {
        if (cgroup.startsWith(prefix) && !alive.has(cgroup)) created.delete(cgroup);
      }
      return found;
    },
    firstPid: (cgroup) => {
      const path = folder(main, cgroup);
      return (path === undefined ? undefined : readPids(path))?.[0] ?? null;
    },
  };
}

interface Created {
  inode: number;
  at: number;
}

/**
 * When a cgroup was made, as far as its inodes tell: a cgroup file's time is that of its inode, which the kernel makes
 * when it is first looked up and may drop. So the lowest time ever seen is the right one.
 */
function createdAtOf(path: string, version: 1 | 2): Created | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory() !== true) return undefined;
  const file = statSync(`${path}/${version === 2 ? 'cgroup.events' : 'cgroup.clone_children'}`, {
    throwIfNoEntry: false,
  });
  return { inode: stat.ino, at: Math.min(stat.mtimeMs, file?.mtimeMs ?? stat.mtimeMs) };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function addTree(path: string, cgroup: string, found: string[]): void {
  found.push(cgroup);
  let entries;
  try {
    entries = readdirSync(path, { withFileTypes: true });
  } catch {
    return; // removed meanwhile
  }
  const prefix = cgroup === '/' ? '/' : `${cgroup}/`;
  for (const entry of entries) {
    if (entry.isDirectory()) addTree(`${path}/${entry.name}`, `${prefix}${entry.name}`, found);
  }
}
