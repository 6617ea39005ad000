import { isHugePages } from '../node-object/node-resources.ts';
import { isExtendedResource } from '../values/extended-resource.ts';
import { milli, units } from '../qos/resource-amounts.ts';
import type { Amounts } from '../qos/resource-amounts.ts';

/** A pod's or a node's resources as they are compared: cpu in milli cores, memory and storage in bytes, the rest in counts or bytes. */
export interface CountedResources {
  cpu: number;
  memory: number;
  ephemeralStorage: number;
  /** Extended resources, huge pages and the like by name. */
  scalars: Readonly<Record<string, number>>;
}

/** Compared by its whole number, unlike names that mean nothing to a node. */
function isScalar(name: string): boolean {
  if (isHugePages(name) || name.startsWith('attachable-volumes-')) return true;
  return name.includes('kubernetes.io/') || isExtendedResource(name);
}

/** What of a sum counts for a node, rounded up for each pod as kubelet does. */
export function countedResources(amounts: Amounts): CountedResources {
  const scalars: Record<string, number> = {};
  for (const [name, value] of Object.entries(amounts)) if (isScalar(name)) scalars[name] = units(value);
  return {
    cpu: milli(amounts['cpu']),
    memory: units(amounts['memory']),
    ephemeralStorage: units(amounts['ephemeral-storage']),
    scalars,
  };
}

/** Nothing at all. */
export const NO_RESOURCES: CountedResources = { cpu: 0, memory: 0, ephemeralStorage: 0, scalars: {} };

/** The sum with `more` added `times` times (1 or -1); a scalar of which nothing is left is not in it. */
export function addResources(sum: CountedResources, more: CountedResources, times: 1 | -1): CountedResources {
  const scalars: Record<string, number> = { ...sum.scalars };
  for (const [name, value] of Object.entries(more.scalars)) {
    const left = (scalars[name] ?? 0) + times * value;
    if (left === 0) delete scalars[name];
    else scalars[name] = left;
  }
  return {
    cpu: sum.cpu + times * more.cpu,
    memory: sum.memory + times * more.memory,
    ephemeralStorage: sum.ephemeralStorage + times * more.ephemeralStorage,
    scalars,
  };
}
