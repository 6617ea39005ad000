import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { podUidOfCgroup } from '../../../machines/cgroups/slice-names.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { hostErrors } from '../../../machines/errors/host-errors.ts';
import type { EffectCatalog, Empty } from '../../../machines/protocol/effects.ts';
import type { QosCgroups } from '../../../machines/qos/pod-cgroup.ts';
import type { CgroupHost } from '../files/cgroup-host.ts';
import { ignoring } from '../files/host-failure.ts';
import type { HostSettings } from '../files/host-settings.ts';
import { cgroupDriver } from './cgroup-driver.ts';
import type { CgroupDriver } from './driver.ts';

/** The fewest cpu shares the kernel takes; what best-effort pods get together. */
export const MIN_SHARES = 2;

/** `host.EnsurePodCgroup`: creates the pod's cgroup if needed and sets the limits that are given. */
export async function ensurePodCgroup(
  params: EffectCatalog['host.EnsurePodCgroup']['params'],
  settings: HostSettings,
): Promise<Empty> {
  const driver = cgroupDriver(settings);
  const { path, ...limits } = params.cgroup;
  await driver.create(path);
  await driver.set(path, limits);
  return {};
}

/**
 * `host.RemovePodCgroup`: kills what still runs in the pod's cgroup and removes it from every hierarchy.
 *
 * @throws ActorletError HOST003 when `path` is no pod's cgroup, HOST004 when it stays busy, HOST020 and HOST021 of systemd
 */
export async function removePodCgroup(
  { path }: EffectCatalog['host.RemovePodCgroup']['params'],
  settings: HostSettings,
): Promise<Empty> {
  if (podUidOfCgroup(path) === undefined || path.split('/').includes('..'))
    throw new ActorletError(hostErrors.notPodCgroup, { path });
  await cgroupDriver(settings).remove(path);
  return {};
}

/** Sets the shares of all burstable pods together: the sum of their cpu requests, at least {@link MIN_SHARES}. */
export async function setBurstableShares(driver: CgroupDriver, qos: QosCgroups, shares: number): Promise<void> {
  const cpuShares = Math.min(Math.max(shares, MIN_SHARES), 262144);
  await driver.set(qos.burstable, { cpuShares });
}

/** Keeps the memory that pods ask for from being reclaimed (gate MemoryQoS), in bytes: of all pods, and of burstable ones of them. */
export async function setMemoryMin(
  driver: CgroupDriver,
  qos: QosCgroups,
  { all, burstable }: { all: number; burstable: number },
): Promise<void> {
  if (burstable > 0) await driver.set(qos.burstable, { unified: { 'memory.min': String(burstable) } });
  if (all > 0) await driver.set(qos.kubepods, { unified: { 'memory.min': String(all) } });
}

/** Pod cgroups on disk, in whatever hierarchy: pod UID -> cgroup path. For the clean-up of orphans. */
export async function ownedCgroups(host: CgroupHost, qos: QosCgroups): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const mount of new Set(Object.values(host.mounts))) {
    for (const parent of [qos.kubepods, qos.burstable, qos.bestEffort]) {
      const entries = await ignoring(readdir(join(mount, parent), { withFileTypes: true }), 'ENOENT');
      for (const entry of entries ?? []) {
        const uid = entry.isDirectory() ? podUidOfCgroup(entry.name) : undefined;
        if (uid !== undefined) found.set(uid, join(parent, entry.name));
      }
    }
  }
  return found;
}
