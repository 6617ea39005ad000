import { isExtendedResource } from '../values/extended-resource.ts';
import type { Container } from '../protocol/api-types.ts';
import { parseQuantity } from '../values/quantity.ts';

const NANO = 1_000_000_000n;

/** Extended resources among a container's limits with their amounts, those of nothing left out. */
export function extendedLimits({ resources }: Container): [resource: string, count: number][] {
  return Object.entries(resources?.limits ?? {}).flatMap(([name, quantity]): [string, number][] => {
    if (!isExtendedResource(name)) return [];
    const nano = parseQuantity(String(quantity)) ?? 0n;
    // As Quantity.Value does: rounded up.
    const count = Number((nano + NANO - 1n) / NANO);
    return count > 0 ? [[name, count]] : [];
  });
}
