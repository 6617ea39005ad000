/** True when `older` is surely the older state: resource versions of one resource are numbers that grow (KEP-5504). */
export function isOlder(older: string, newer: string): boolean {
  if (!/^\d+$/.test(older) || !/^\d+$/.test(newer)) return false;
  return BigInt(older) < BigInt(newer);
}
