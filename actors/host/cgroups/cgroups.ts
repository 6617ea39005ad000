import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { EffectCatalog, Empty } from '../../../machines/protocol/effects.ts';
import { detectCgroups } from './cgroup-detect.ts';
import type { CgroupHost } from '../files/cgroup-host.ts';
import { createCgroup, setCgroupLimits } from './cgroup-files.ts';
import type { CgroupLimits } from './cgroup-files.ts';
import { podUidOf, removePodCgroupTree } from './cgroup-removal.ts';
import { ignoring } from '../files/host-failure.ts';
import type { HostSettings } from '../files/host-settings.ts';

/** The fewest cpu shares the kernel takes; what best-effort pods get together. */
const MIN_SHARES = 2;

let detected: CgroupHost | undefined;

/** `host.EnsurePodCgroup`: creates the pod's cgroup if needed and sets the limits that are given. */
export async function ensurePodCgroup(
  params: EffectCatalog['host.EnsurePodCgroup']['params'],
  settings: HostSettings,
): Promise<Empty> {
  const host = cgroupHost(settings);
  const { path, ...limits } = params.cgroup;
  await createCgroup(host, path);
  await setCgroupLimits(host, path, limits);
  return {};
}

/** `host.RemovePodCgroup`: kills what still runs in the pod's cgroup and removes it from every hierarchy. */
export async function removePodCgroup(
  params: EffectCatalog['host.RemovePodCgroup']['params'],
  settings: HostSettings,
): Promise<Empty> {
  await removePodCgroupTree(cgroupHost(settings), params.path);
  return {};
}

/**
 * Creates `kubepods` (path given as a cgroup path, e.g. `/kubepods`) with its `burstable` and `besteffort` children,
 * or brings them back to what they should be. Called once when the agent starts.
 *
 * @param limits of `kubepods` itself: shares of the allocatable cpu, allocatable memory, pids
 */
export async function ensureQosCgroups(host: CgroupHost, kubepods: string, limits: CgroupLimits = {}): Promise<void> {
  await createCgroup(host, kubepods);
  await setCgroupLimits(host, kubepods, limits);
  for (const qos of ['burstable', 'besteffort']) await createCgroup(host, join(kubepods, qos));
  await setCgroupLimits(host, join(kubepods, 'besteffort'), { cpuShares: MIN_SHARES });
}

/** Sets the shares of all burstable pods together: the sum of their cpu requests, at least {@link MIN_SHARES}. */
export async function setBurstableShares(host: CgroupHost, kubepods: string, shares: number): Promise<void> {
  const cpuShares = Math.min(Math.max(shares, MIN_SHARES), 262144);
  await setCgroupLimits(host, join(kubepods, 'burstable'), { cpuShares });
}

/** Pod cgroups on disk, in whatever hierarchy: pod UID -> cgroup path. For the clean-up of orphans. */
export async function ownedCgroups(host: CgroupHost, kubepods: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const mount of new Set(Object.values(host.mounts))) {
    for (const qos of ['', 'burstable', 'besteffort']) {
      const parent = join(kubepods, qos);
      const entries = await ignoring(readdir(join(mount, parent), { withFileTypes: true }), 'ENOENT');
      for (const entry of entries ?? []) {
        const uid = entry.isDirectory() ? podUidOf(entry.name) : undefined;
        if (uid !== undefined) found.set(uid, join(parent, entry.name));
      }
    }
  }
  return found;
}

/** The cgroup mounts of the settings, or those of the machine (looked up once in each thread). */
export function cgroupHost(settings: HostSettings): CgroupHost {
  return settings.cgroups ?? (detected ??= detectCgroups());
}
