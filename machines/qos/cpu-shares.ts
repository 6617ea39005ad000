const MIN_SHARES = 2;
const MAX_SHARES = 262_144;
/** The kernel takes no quota below 1 ms. */
const MIN_QUOTA_US = 1000;

/** `cpu.shares` (cgroup v1) for milli cores: 1024 a core, kept within the kernel's 2..262144. */
export function milliToShares(milliCpu: number): number {
  if (milliCpu === 0) return MIN_SHARES;
  return Math.min(MAX_SHARES, Math.max(MIN_SHARES, Math.trunc((milliCpu * 1024) / 1000)));
}

/** CFS quota in microseconds for milli cores over a period in microseconds; 0 = none. */
export function milliToQuota(milliCpu: number, periodUs: number): number {
  if (milliCpu === 0) return 0;
  return Math.max(MIN_QUOTA_US, Math.trunc((milliCpu * periodUs) / 1000));
}

/** Milli cores that a `cpu.shares` value stands for; 0 below the minimum. */
export function sharesToMilli(shares: number): number {
  return shares >= MIN_SHARES ? Math.ceil((shares * 1000) / 1024) : 0;
}

/** Milli cores that a quota stands for; 0 when there is no quota. */
export function quotaToMilli(quotaUs: number, periodUs: number): number {
  return quotaUs === -1 || periodUs <= 0 ? 0 : Math.trunc((quotaUs * 1000) / periodUs);
}
