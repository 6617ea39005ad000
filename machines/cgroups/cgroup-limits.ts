/** Limits of one cgroup; undefined = left alone, -1 = no limit. A 0 of quota, memory or pids is left alone, too. */
export interface CgroupLimits {
  /** v1 shares, 2 to 262144; turned into a weight on v2. */
  cpuShares?: number;
  /** Microseconds of cpu time for each period. */
  cpuQuotaUs?: number;
  /** Microseconds; the kernel's 100000 where there is a quota alone. */
  cpuPeriodUs?: number;
  memoryLimitBytes?: number;
  pidsLimit?: number;
  /** Processors as the kernel lists them: `0-3,8`. */
  cpus?: string;
  /** Bytes by page size as the kernel's files spell it (`2MB`). */
  hugepageLimits?: Record<string, number>;
  /** Files of v2 and what is written to them, e.g. `memory.min`; the kernel of v1 has none of them. */
  unified?: Record<string, string>;
}

/** The kernel's period where only a quota is given, microseconds. */
export const DEFAULT_PERIOD_US = 100_000;
