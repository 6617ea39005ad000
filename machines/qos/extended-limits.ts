import { isExtendedResource } from '../values/extended-resource.ts';
import type { Container, Pod } from '../protocol/api-types.ts';
import { podLimits } from './pod-resources.ts';
import { parseQuantity } from '../values/quantity.ts';

const NANO = 1_000_000_000n;

/** What of extended resources the pod may use as a whole, those of nothing left out. */
export function extendedLimitsOf(pod: Pod): Record<string, number> {
  return Object.fromEntries(
    Object.entries(podLimits(pod, { excludeOverhead: true })).flatMap(([name, nano]): [string, number][] => {
      const count = Number((nano + NANO - 1n) / NANO);
      return isExtendedResource(name) && count > 0 ? [[name, count]] : [];
    }),
  );
}

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
