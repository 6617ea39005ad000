import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { sharesFromCpuWeight } from '../../../machines/cgroups/cpu-weight.ts';
import type { EffectCatalog, Empty, PodResourcesRead } from '../../../machines/protocol/effects.ts';
import type { CgroupHost } from '../files/cgroup-host.ts';
import { cgroupDriver, cgroupHost } from '../cgroups/cgroup-driver.ts';
import type { HostSettings } from '../files/host-settings.ts';

/** What a cgroup without a memory limit allows: more than any node has. */
const UNLIMITED = 2 ** 63;

/** `host.UpdatePodCgroup`: changes limits of a pod's cgroup. */
export async function updatePodCgroup(
  { path, limits }: EffectCatalog['host.UpdatePodCgroup']['params'],
  settings: HostSettings,
): Promise<Empty> {
  await cgroupDriver(settings).set(path, limits);
  return {};
}

/** `host.ReadPodResources`: the limits of the pod's cgroup, and the memory that is in use. */
export async function readPodResources(
  { path, containers }: EffectCatalog['host.ReadPodResources']['params'],
  settings: HostSettings,
): Promise<PodResourcesRead> {
  const host = cgroupHost(settings);
  const memory = join(host.version === 2 ? (host.mounts[''] ?? '') : (host.mounts['memory'] ?? ''), path);
  const usage = host.version === 2 ? 'memory.current' : 'memory.usage_in_bytes';
  const used: Record<string, number | null> = {};
  for (const { name, id } of containers) used[name] = await numberIn(join(await childOf(memory, id), usage));
  return {
    ...(host.version === 2 ? await unifiedLimits(memory) : await v1Limits(host, path)),
    usageBytes: await numberIn(join(memory, usage)),
    containers: used,
  };
}

type Limits = Omit<PodResourcesRead, 'usageBytes' | 'containers'>;

async function v1Limits({ mounts }: CgroupHost, path: string): Promise<Limits> {
  const cpu = (file: string) => readFile(join(mounts['cpu'] ?? '', path, file), 'utf8');
  return {
    cpuShares: Number(await cpu('cpu.shares')),
    cpuQuotaUs: Number(await cpu('cpu.cfs_quota_us')),
    cpuPeriodUs: Number(await cpu('cpu.cfs_period_us')),
    memoryLimitBytes: Number(await readFile(join(mounts['memory'] ?? '', path, 'memory.limit_in_bytes'), 'utf8')),
  };
}

async function unifiedLimits(dir: string): Promise<Limits> {
  const text = async (file: string) => (await readFile(join(dir, file), 'utf8')).trim();
  const [quota = 'max', period = '100000'] = (await text('cpu.max')).split(' ');
  const max = await text('memory.max');
  return {
    cpuShares: sharesFromCpuWeight(Number(await text('cpu.weight'))),
    cpuQuotaUs: quota === 'max' ? -1 : Number(quota),
    cpuPeriodUs: Number(period),
    memoryLimitBytes: max === 'max' ? UNLIMITED : Number(max),
  };
}

/** A container's own cgroup: its id, or the systemd scope that ends in it. */
async function childOf(dir: string, id: string): Promise<string> {
  const names = await readdir(dir).catch(() => []);
  return join(dir, names.find((name) => basename(name, '.scope').endsWith(id)) ?? id);
}

async function numberIn(file: string): Promise<number | null> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.trim() === '' ? null : Number(text);
}
