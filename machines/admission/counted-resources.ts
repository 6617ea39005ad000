import { isExtendedResource, isHugePages } from '../node-object/node-resources.ts';
import { milli, units } from '../qos/resource-amounts.ts';
import type { Amounts } from '../qos/resource-amounts.ts';

/** A pod's or a node's resources as they are compared: cpu in milli cores, memory and storage in bytes, the rest in counts or bytes. */
export interface CountedResources {
  cpu: number;
  memory: number;
  ephemeralStorage: number;
  /** Extended resources, huge pages and the like by name. */
  scalars: Map<string, number>;
}

/** Compared by its whole number, unlike names that mean nothing to a node. */
function isScalar(name: string): boolean {
  if (isHugePages(name) || name.startsWith('attachable-volumes-')) return true;
  return name.includes('kubernetes.io/') || isExtendedResource(name);
}

/** What of a sum counts for a node, rounded up for each pod as kubelet does. */
export function countedResources(amounts: Amounts): CountedResources {
  const scalars = new Map<string, number>();
  for (const [name, value] of Object.entries(amounts)) if (isScalar(name)) scalars.set(name, units(value));
  return {
    cpu: milli(amounts['cpu']),
    memory: units(amounts['memory']),
    ephemeralStorage: units(amounts['ephemeral-storage']),
    scalars,
  };
}

/** Adds `more`, `times` times (1 or -1), in place. */
export function addResources(sum: CountedResources, more: CountedResources, times: 1 | -1): void {
  sum.cpu += times * more.cpu;
  sum.memory += times * more.memory;
  sum.ephemeralStorage += times * more.ephemeralStorage;
  for (const [name, value] of more.scalars) {
    const left = (sum.scalars.get(name) ?? 0) + times * value;
    if (left === 0) sum.scalars.delete(name);
    else sum.scalars.set(name, left);
  }
}
