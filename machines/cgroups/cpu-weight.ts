/** Shares of v1 (2..262144) as a weight of v2 (1..10000), by KEP-2254's formula, as kubelet 1.35 has it (getCPUWeight). */
export function cpuWeightFromShares(shares: number): number {
  if (shares >= 262144) return 10000;
  return 1 + Math.floor(((shares - 2) * 9999) / 262142);
}

/** A weight of v2 (1..10000) as shares of v1 (2..262144): the same formula the other way round. */
export function sharesFromCpuWeight(weight: number): number {
  return Math.floor(((weight - 1) * 262142) / 9999) + 2;
}
