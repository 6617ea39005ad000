import type { Container, Pod } from '../protocol/api-types.ts';
import { extendedLimits } from '../qos/extended-limits.ts';
import type { DeviceStep } from './device-state.ts';

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
