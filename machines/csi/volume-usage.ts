/** One measure of a volume, as the driver tells it; 64-bit numbers are texts. */
export interface ToldUsage {
  available: string;
  total: string;
  used: string;
  /** 1: bytes, 2: inodes. */
  unit: number;
}

const BYTES = 1;
const INODES = 2;

/** Of `NodeGetVolumeStats`: what is not told is 0, as with kubelet. */
export function usageOf(told: readonly ToldUsage[]) {
  const usage = { capacityBytes: 0, usedBytes: 0, availableBytes: 0, inodes: 0, inodesUsed: 0, inodesFree: 0 };
  for (const { unit, available, total, used } of told) {
    if (unit === BYTES)
      Object.assign(usage, {
        capacityBytes: Number(total),
        usedBytes: Number(used),
        availableBytes: Number(available),
      });
    if (unit === INODES)
      Object.assign(usage, { inodes: Number(total), inodesUsed: Number(used), inodesFree: Number(available) });
  }
  return usage;
}
