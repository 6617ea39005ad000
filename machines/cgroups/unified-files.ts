import { DEFAULT_PERIOD_US } from './cgroup-limits.ts';
import type { CgroupLimits } from './cgroup-limits.ts';
import { cpuWeightFromShares } from './cpu-weight.ts';

/** A file of a cgroup and what is written to it; one that may be `missing` belongs to a feature that the kernel may lack. */
export interface CgroupWrite {
  file: string;
  value: string;
  missing?: true;
}

/**
 * What is written to the files of a v2 cgroup for these limits, in libcontainer's order (fs2).
 *
 * @param controllers that the kernel has; of those that it lacks nothing is written but what was asked for by file
 */
export function unifiedWrites(limits: CgroupLimits, controllers: readonly string[]): CgroupWrite[] {
  const { pidsLimit, memoryLimitBytes, cpuShares, cpuQuotaUs, cpuPeriodUs, cpus } = limits;
  const all: CgroupWrite[] = [];
  if (pidsLimit !== undefined && pidsLimit !== 0) all.push({ file: 'pids.max', value: orMax(pidsLimit) });
  // Memory without limit takes that of swap along.
  if (memoryLimitBytes === -1) all.push({ file: 'memory.swap.max', value: 'max', missing: true });
  if (memoryLimitBytes !== undefined && memoryLimitBytes !== 0)
    all.push({ file: 'memory.max', value: orMax(memoryLimitBytes) });
  if (cpuShares !== undefined && cpuShares !== 0)
    all.push({ file: 'cpu.weight', value: String(cpuWeightFromShares(cpuShares)) });
  if ((cpuQuotaUs ?? 0) !== 0 || (cpuPeriodUs ?? 0) !== 0)
    all.push({ file: 'cpu.max', value: `${orMax(cpuQuotaUs || -1)} ${cpuPeriodUs || DEFAULT_PERIOD_US}` });
  if (cpus !== undefined) all.push({ file: 'cpuset.cpus', value: cpus });
  if (controllers.includes('hugetlb'))
    for (const [size, bytes] of Object.entries(limits.hugepageLimits ?? {}))
      all.push(
        { file: `hugetlb.${size}.max`, value: exact(bytes) },
        { file: `hugetlb.${size}.rsvd.max`, value: exact(bytes), missing: true },
      );
  for (const [file, value] of Object.entries(limits.unified ?? {})) all.push({ file, value });
  return all;
}

function orMax(value: number): string {
  return value < 0 ? 'max' : String(value);
}

/** All digits of a great number, as 2^62 is. */
export function exact(value: number): string {
  return String(BigInt(value));
}
