import { parseQuantity } from '../values/quantity.ts';

/** Resources by name in nano units (10^-9), so that sums stay exact until they are rounded. */
export type Amounts = Record<string, bigint>;

/** `resources.requests` or `.limits` as the API writes it. */
export type ResourceList = Record<string, string>;

/** Reads a list. What is no quantity counts as zero: the sources have refused such a pod before. */
export function amountsOf(list: ResourceList | undefined): Amounts {
  const out: Amounts = {};
  for (const [name, quantity] of Object.entries(list ?? {})) out[name] = parseQuantity(String(quantity)) ?? 0n;
  return out;
}

/** Thousandths (milli cores), rounded up. */
export function milli(nano: bigint | undefined): number {
  return ceilTo(nano ?? 0n, 1_000_000n);
}

/** Whole units (bytes, counts), rounded up. */
export function units(nano: bigint | undefined): number {
  return ceilTo(nano ?? 0n, 1_000_000_000n);
}

/** Adds `more` to `sum` in place. */
export function addAmounts(sum: Amounts, more: Amounts): void {
  for (const [name, value] of Object.entries(more))
    sum[name] = (Object.hasOwn(sum, name) ? (sum[name] ?? 0n) : 0n) + value;
}

/** Raises `most` in place to the greater of both, name by name. */
export function raiseAmounts(most: Amounts, other: Amounts): void {
  for (const [name, value] of Object.entries(other)) {
    const now = Object.hasOwn(most, name) ? most[name] : undefined;
    if (now === undefined || value > now) most[name] = value;
  }
}

function ceilTo(nano: bigint, step: bigint): number {
  const whole = nano / step;
  return Number(nano % step > 0n ? whole + 1n : whole);
}
