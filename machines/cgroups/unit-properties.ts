import { DEFAULT_PERIOD_US } from './cgroup-limits.ts';
import type { CgroupLimits } from './cgroup-limits.ts';
import { cpuSetBits } from './cpu-set.ts';
import { cpuWeightFromShares } from './cpu-weight.ts';

/** A property of a systemd unit, with its D-Bus type: boolean, number of 64 bits, list of strings, bytes. */
export type UnitProperty =
  | readonly [name: string, type: 'b', value: boolean]
  | readonly [name: string, type: 't', value: bigint]
  | readonly [name: string, type: 's', value: string]
  | readonly [name: string, type: 'as', value: readonly string[]]
  | readonly [name: string, type: 'ay', value: readonly number[]];

/** systemd's "without end", of a limit as of a time. */
const INFINITY = 2n ** 64n - 1n;
/** systemd keeps quotas in hundredths of a processor: microseconds in each second. */
const STEP_US = 10_000n;
const SECOND_US = 1_000_000n;
/** Files of v2 that systemd has a property for (libcontainer's unifiedResToSystemdProps); the others are only written. */
const UNIFIED: Readonly<Record<string, string>> = {
  'memory.high': 'MemoryHigh',
  'memory.low': 'MemoryLow',
  'memory.min': 'MemoryMin',
  'memory.max': 'MemoryMax',
  'memory.swap.max': 'MemorySwapMax',
};

/** With what a slice is made: below `parent`, and accounted, since controllers that are switched on later count from then on. */
export function sliceProperties(slice: string, parent: string, version: 1 | 2): UnitProperty[] {
  return [
    ['Description', 's', `Cgroup of pods ${slice}`],
    ['Wants', 'as', [parent]],
    ['MemoryAccounting', 'b', true],
    ['CPUAccounting', 'b', true],
    [version === 2 ? 'IOAccounting' : 'BlockIOAccounting', 'b', true],
    ['TasksAccounting', 'b', true],
    // Nothing of the pods orders itself by the machine's going down or coming up.
    ['DefaultDependencies', 'b', false],
  ];
}

/** Limits as properties of a unit, those that systemd has one for; libcontainer's order. */
export function limitProperties(limits: CgroupLimits, version: 1 | 2): UnitProperty[] {
  const { memoryLimitBytes: memory, cpuShares, cpuQuotaUs: quota, cpuPeriodUs: period, pidsLimit, cpus } = limits;
  const all: UnitProperty[] = [];
  if (memory !== undefined && memory !== 0)
    all.push([version === 2 ? 'MemoryMax' : 'MemoryLimit', 't', orInfinity(memory)]);
  // Memory without limit takes that of swap along.
  if (memory === -1 && version === 2) all.push(['MemorySwapMax', 't', INFINITY]);
  if (cpuShares !== undefined && cpuShares !== 0)
    all.push(
      version === 2
        ? ['CPUWeight', 't', BigInt(cpuWeightFromShares(cpuShares))]
        : ['CPUShares', 't', BigInt(cpuShares)],
    );
  if (period !== undefined && period !== 0) all.push(['CPUQuotaPeriodUSec', 't', BigInt(period)]);
  if ((quota !== undefined && quota !== 0) || (period !== undefined && period !== 0))
    all.push(['CPUQuotaPerSecUSec', 't', quotaPerSecond(quota ?? 0, period)]);
  if (pidsLimit !== undefined && (pidsLimit > 0 || pidsLimit === -1))
    all.push(['TasksMax', 't', orInfinity(pidsLimit)]);
  if (cpus !== undefined) all.push(['AllowedCPUs', 'ay', cpuSetBits(cpus)]);
  if (version === 2)
    for (const [file, value] of Object.entries(limits.unified ?? {})) {
      const name = UNIFIED[file];
      if (name !== undefined) all.push([name, 't', value === 'max' ? INFINITY : BigInt(value)]);
    }
  return all;
}

/**
 * Limits as systemd will have them: it keeps quotas in hundredths of a processor, so they are rounded up, and what lies below may
 * have what it asks for. The same goes to the files, or the two would write different values.
 */
export function roundedLimits(limits: CgroupLimits): CgroupLimits {
  const { cpuQuotaUs: quota = 0, cpuPeriodUs: period } = limits;
  if (quota <= 0) return limits;
  const us = BigInt(period || DEFAULT_PERIOD_US);
  if (((BigInt(quota) * SECOND_US) / us) % STEP_US === 0n) return limits;
  return { ...limits, cpuQuotaUs: Number((quotaPerSecond(quota, period) * us) / SECOND_US) };
}

function quotaPerSecond(quotaUs: number, periodUs: number | undefined): bigint {
  if (quotaUs <= 0) return INFINITY;
  const rate = (BigInt(quotaUs) * SECOND_US) / BigInt(periodUs || DEFAULT_PERIOD_US);
  return rate % STEP_US === 0n ? rate : (rate / STEP_US + 1n) * STEP_US;
}

function orInfinity(value: number): bigint {
  return value < 0 ? INFINITY : BigInt(value);
}
