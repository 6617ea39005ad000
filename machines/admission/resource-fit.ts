import { isExtendedResource } from '../node-object/node-resources.ts';
import type { Pod } from '../protocol/api-types.ts';
import { podRequests } from '../qos/pod-resources.ts';
import { countedResources } from './counted-resources.ts';
import type { CountedResources } from './counted-resources.ts';
import type { NodeUsage } from './node-usage.ts';
import type { NodeView } from './node-view.ts';
import type { Misfit } from './rejection.ts';

/**
 * What of a pod's requests is more than the node has left, in the order of kubelet: pods, cpu, memory, ephemeral
 * storage, all others by name. Extended resources that the node does not have at all are not asked for: they may
 * belong to the whole cluster.
 */
export function resourceMisfits(pod: Pod, node: NodeView, usage: NodeUsage): Misfit[] {
  const uid = pod.metadata?.uid ?? '';
  const misfits: Misfit[] = [];
  const check = (resource: string, requested: number, used: number, capacity: number): void => {
    if (requested > 0 && requested > capacity - used) {
      misfits.push({ kind: 'resource', resource, requested, used, capacity });
    }
  };
  check('pods', 1, usage.podsWithout(uid), node.maxPods);
  const asked = countedResources(podRequests(pod));
  for (const name of asked.scalars.keys()) {
    if (isExtendedResource(name) && !node.allocatable.scalars.has(name)) asked.scalars.delete(name);
  }
  if (isNothing(asked)) return misfits;
  const used = usage.resourcesWithout(uid);
  const { allocatable } = node;
  check('cpu', asked.cpu, used.cpu, allocatable.cpu);
  check('memory', asked.memory, used.memory, allocatable.memory);
  check('ephemeral-storage', asked.ephemeralStorage, used.ephemeralStorage, allocatable.ephemeralStorage);
  for (const name of [...asked.scalars.keys()].sort()) {
    const of = (resources: Readonly<CountedResources>): number => resources.scalars.get(name) ?? 0;
    check(name, of(asked), of(used), of(allocatable));
  }
  return misfits;
}

function isNothing(asked: CountedResources): boolean {
  return asked.cpu === 0 && asked.memory === 0 && asked.ephemeralStorage === 0 && asked.scalars.size === 0;
}
