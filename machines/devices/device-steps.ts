import { isExtendedResource } from '../node-object/node-resources.ts';
import type { Container, Pod } from '../protocol/api-types.ts';
import { parseQuantity } from '../values/quantity.ts';
import type { DeviceStep } from './device-state.ts';

const NANO = 1_000_000_000n;

/** What the containers of a pod ask of extended resources, in the order in which they start; kubelet looks at limits. */
export function deviceSteps(pod: Pod, only?: string): DeviceStep[] {
  const { initContainers = [], containers = [] } = pod.spec ?? { containers: [] };
  const of = (container: Container, kind: DeviceStep['kind']): DeviceStep[] =>
    only !== undefined && only !== container.name
      ? []
      : extendedLimits(container).map(([resource, count]) => ({ container: container.name, kind, resource, count }));
  return [
    ...initContainers.flatMap((each) => of(each, each.restartPolicy === 'Always' ? 'sidecar' : 'init')),
    ...containers.flatMap((each) => of(each, 'regular')),
  ];
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
