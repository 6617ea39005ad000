import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { CgroupLimits } from '../../../machines/cgroups/cgroup-limits.ts';
import { exact, unifiedWrites } from '../../../machines/cgroups/unified-files.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { hostErrors } from '../../../machines/errors/host-errors.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { CgroupHost } from '../files/cgroup-host.ts';
import { codeOf, ignoring } from '../files/host-failure.ts';

/** Each directory that stands for cgroup `path`, one for each distinct hierarchy. */
export function cgroupDirs(host: CgroupHost, path: string): string[] {
  return [...new Set(Object.values(host.mounts))].map((mount) => join(mount, path));
}

/** Creates cgroup `path` in every hierarchy; what exists stays as it is. */
export async function createCgroup(host: CgroupHost, path: string): Promise<void> {
  if (host.version === 2) return createUnified(host, path);
  for (const dir of cgroupDirs(host, path)) {
    if (dir === join(host.mounts['cpuset'] ?? '\0', path)) await createCpuset(host.mounts['cpuset'] ?? '', path);
    else await mkdir(dir, { recursive: true, mode: 0o755 });
  }
}

/** Writes the given limits of cgroup `path`. */
export async function setCgroupLimits(host: CgroupHost, path: string, limits: CgroupLimits): Promise<void> {
  return host.version === 2 ? setUnified(host, path, limits) : setV1(host, path, limits);
}

async function createUnified(host: CgroupHost, path: string): Promise<void> {
  const enable = host.controllers.map((name) => `+${name}`);
  const parts = path.split('/').filter(Boolean);
  let current = host.mounts[''] ?? '';
  for (const part of parts) {
    // Controllers are switched on in every ancestor but not in the cgroup itself: runc does that for its children.
    try {
      await writeFile(join(current, 'cgroup.subtree_control'), enable.join(' '));
    } catch {
      // One that the parent does not offer spoils the whole write, so each gets its own chance.
      for (const one of enable) await writeFile(join(current, 'cgroup.subtree_control'), one).catch(() => undefined);
    }
    current = join(current, part);
    await ignoring(mkdir(current, { mode: 0o755 }), 'EEXIST');
    const type = (await ignoring(readFile(join(current, 'cgroup.type'), 'utf8'), 'ENOENT'))?.trim() ?? 'domain';
    if (type !== 'domain' && type !== '') throw new ActorletError(hostErrors.cgroupInvalid, { path: current, type });
  }
}

async function setUnified(host: CgroupHost, path: string, limits: CgroupLimits): Promise<void> {
  const dir = join(host.mounts[''] ?? '', path);
  for (const { file, value, missing } of unifiedWrites(limits, host.controllers)) {
    if (missing === true && !existsSync(join(dir, file))) continue;
    await write(dir, file, value);
  }
}

async function setV1(host: CgroupHost, path: string, limits: CgroupLimits): Promise<void> {
  const { cpu, cpuset, memory, pids, hugetlb } = host.mounts;
  if (cpu !== undefined) await setV1Cpu(join(cpu, path), limits);
  if (memory !== undefined && (limits.memoryLimitBytes ?? 0) !== 0)
    await write(join(memory, path), 'memory.limit_in_bytes', String(limits.memoryLimitBytes));
  if (pids !== undefined && limits.pidsLimit !== undefined && limits.pidsLimit !== 0)
    await write(join(pids, path), 'pids.max', limits.pidsLimit < 0 ? 'max' : String(limits.pidsLimit));
  if (cpuset !== undefined && limits.cpus !== undefined) await write(join(cpuset, path), 'cpuset.cpus', limits.cpus);
  if (hugetlb !== undefined)
    for (const [size, bytes] of Object.entries(limits.hugepageLimits ?? {}))
      await write(join(hugetlb, path), `hugetlb.${size}.limit_in_bytes`, exact(bytes));
}

async function setV1Cpu(dir: string, limits: CgroupLimits): Promise<void> {
  if (limits.cpuShares !== undefined) await write(dir, 'cpu.shares', String(limits.cpuShares));
  let periodLeft = limits.cpuPeriodUs;
  if (periodLeft !== undefined) {
    try {
      await write(dir, 'cpu.cfs_period_us', String(periodLeft));
      periodLeft = undefined;
    } catch (error) {
      // A shorter period with the old quota may exceed the parent's share: then the quota goes first.
      if (causeCode(error) !== 'EINVAL' || limits.cpuQuotaUs === undefined) throw error;
    }
  }
  if (limits.cpuQuotaUs !== undefined) await write(dir, 'cpu.cfs_quota_us', String(limits.cpuQuotaUs));
  if (periodLeft !== undefined) await write(dir, 'cpu.cfs_period_us', String(periodLeft));
}

/**
 * A new cpuset has neither cpus nor memory nodes and takes no process, so each level gets its parent's. The last level first: those above it
 * are nearly always there, and each file call costs a way through another thread.
 */
async function createCpuset(mount: string, path: string): Promise<void> {
  const parts = path.split('/').filter(Boolean);
  const parent = () => createCpuset(mount, parts.slice(0, -1).join('/'));
  if (parts.length === 0) return;
  const dir = join(mount, ...parts);
  const make = () =>
    ignoring(
      mkdir(dir, { mode: 0o755 }).then(() => true),
      'EEXIST',
    );
  const made = await make().catch(async (error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
    await parent();
    return make();
  });
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    const read = async (from: string) => (await readFile(join(from, file), 'utf8')).trim();
    if (made !== true && (await read(dir)) !== '') continue;
    const above = await read(dirname(dir));
    // Somebody made the one above and gave it nothing.
    if (above === '') await parent();
    await write(dir, file, above === '' ? await read(dirname(dir)) : above);
  }
}

async function write(dir: string, file: string, value: string): Promise<void> {
  try {
    await writeFile(join(dir, file), value);
  } catch (error) {
    const reason = messageOf(error);
    throw new ActorletError(hostErrors.cgroupWrite, { value, file: join(dir, file), reason }, { cause: error });
  }
}

function causeCode(error: unknown): string {
  return error instanceof Error ? codeOf(error.cause) : '';
}
