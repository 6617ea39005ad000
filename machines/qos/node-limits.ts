import type { CgroupLimits } from '../cgroups/cgroup-limits.ts';
import { milliToShares } from './cpu-shares.ts';
import { hugepageBytes } from './huge-pages.ts';
import { addAmounts, amountsOf, milli, units } from './resource-amounts.ts';
import type { Amounts, ResourceList } from './resource-amounts.ts';

/** What decides how much all pods together may have. */
export interface NodeLimitsConfig {
  /** `pods` keeps them from what is reserved. */
  enforceNodeAllocatable: readonly string[];
  systemReserved: ResourceList;
  kubeReserved: ResourceList;
}

/** Huge pages of a tier are limited by its pods alone; kubelet's number for "unbounded". */
const UNBOUNDED = 2 ** 62;

/**
 * Limits of the cgroup of all pods (kubelet's createNodeAllocatableCgroups): what the machine has, less what is reserved where that is
 * enforced. What hard eviction keeps free counts in the scheduler's eyes only, and huge pages are limited by pods alone (setHugePagesConfig).
 *
 * @param capacity of the machine, with `pid`
 * @param sizes huge page sizes of the node as the kernel spells them
 */
export function kubepodsLimits(
  capacity: ResourceList,
  config: NodeLimitsConfig,
  sizes: readonly string[],
): CgroupLimits {
  const enforced = config.enforceNodeAllocatable.includes('pods');
  const amounts = enforced ? lessReserved(capacity, config) : amountsOf(capacity);
  return { ...limitsOf(amounts, sizes), ...unboundedHugePages(sizes) };
}

/** Bytes of memory that are not reserved, enforced or not, and whatever eviction keeps free (GetNodeAllocatableAbsolute). */
export function unreservedMemory(
  capacity: ResourceList,
  config: Omit<NodeLimitsConfig, 'enforceNodeAllocatable'>,
): number {
  return unreserved(capacity, config).memoryBytes;
}

/** CPU and memory that are not reserved (GetNodeAllocatableAbsolute): huge pages and what eviction keeps free are part of it. */
export function unreserved(
  capacity: ResourceList,
  config: Omit<NodeLimitsConfig, 'enforceNodeAllocatable'>,
): { cpuMilli: number; memoryBytes: number } {
  const { cpu, memory } = lessReserved(capacity, config);
  return { cpuMilli: milli(cpu), memoryBytes: units(memory) };
}

function lessReserved(capacity: ResourceList, config: Omit<NodeLimitsConfig, 'enforceNodeAllocatable'>): Amounts {
  const amounts = amountsOf(capacity);
  const reserved = amountsOf(config.systemReserved);
  addAmounts(reserved, amountsOf(config.kubeReserved));
  for (const [name, amount] of Object.entries(amounts)) {
    const left = amount - (reserved[name] ?? 0n);
    amounts[name] = left < 0n ? 0n : left;
  }
  return amounts;
}

/**
 * Limits of a cgroup of the system's or of Kubernetes' own services: what is reserved for it; null when that is nothing (kubelet's parseResourceList makes
 * no list of it, and its enforceExistingCgroup then knows of no limits).
 *
 * @param compressible limit the cpu only, of which there can be too little without harm
 * @param kept the memory that it may have is kept from being reclaimed (gate MemoryQoS)
 */
export function reservedLimits(
  reserved: ResourceList,
  sizes: readonly string[],
  { compressible, kept = false }: { compressible: boolean; kept?: boolean },
): CgroupLimits | null {
  if (Object.keys(reserved).length === 0) return null;
  const amounts = amountsOf(reserved);
  if (!compressible) {
    const limits = limitsOf(amounts, sizes);
    const { memoryLimitBytes } = limits;
    if (!kept || memoryLimitBytes === undefined) return limits;
    return { ...limits, unified: { 'memory.min': String(memoryLimitBytes) } };
  }
  return amounts['cpu'] === undefined ? {} : { cpuShares: milliToShares(milli(amounts['cpu'])) };
}

/** Huge pages of many pods together: no limit but their own. */
export function unboundedHugePages(sizes: readonly string[]): CgroupLimits {
  return { hugepageLimits: Object.fromEntries(sizes.map((size) => [size, UNBOUNDED])) };
}

function limitsOf(amounts: Amounts, sizes: readonly string[]): CgroupLimits {
  const { memory, cpu, pid } = amounts;
  return {
    ...(memory !== undefined && { memoryLimitBytes: units(memory) }),
    ...(cpu !== undefined && { cpuShares: milliToShares(milli(cpu)) }),
    ...(pid !== undefined && { pidsLimit: units(pid) }),
    hugepageLimits: hugepageBytes(sizes, amounts),
  };
}
