import type { Container, Pod } from '../protocol/api-types.ts';
import { extendedClaim } from '../claims/pod-claims.ts';
import { extendedLimits } from '../qos/extended-limits.ts';
import type { DeviceStep } from './device-state.ts';

/**
 * What the containers of a pod ask of extended resources, in the order in which they start; kubelet looks at limits.
 * `extended`: what a driver gives by a claim is none of a device plugin's (gate DRAExtendedResource).
 */
export function deviceSteps(pod: Pod, only?: string, extended = false): DeviceStep[] {
  const mappings = (extended ? extendedClaim(pod)?.requestMappings : undefined) ?? [];
  const isDrivers = (container: string, resource: string): boolean =>
    mappings.some((one) => one.containerName === container && one.resourceName === resource);
  const { initContainers = [], containers = [] } = pod.spec ?? { containers: [] };
  const of = (container: Container, kind: DeviceStep['kind']): DeviceStep[] =>
    only !== undefined && only !== container.name
      ? []
      : extendedLimits(container)
          .filter(([resource]) => !isDrivers(container.name, resource))
          .map(([resource, count]) => ({ container: container.name, kind, resource, count }));
  return [
    ...initContainers.flatMap((each) => of(each, each.restartPolicy === 'Always' ? 'sidecar' : 'init')),
    ...containers.flatMap((each) => of(each, 'regular')),
  ];
}

/**
 * Containers of a pod that need nothing of the node any more when an agent finds these running: they themselves; and when a regular one
 * runs, all others, for the pod was taken as a whole. Its init containers have ended, and a sidecar or a neighbour that crashes and waits
 * keeps the devices that it has: no reason to end what runs (kubelet asks for their devices again, and rejects the pod when the plugin is
 * not back: kubernetes#138446). One without devices, since the checkpoint was lost, is given some when it is made.
 */
export function pastNeed({ spec }: Pod, running: readonly string[]): string[] {
  const { initContainers = [], containers = [] } = spec ?? { containers: [] };
  const begun = containers.some(({ name }) => running.includes(name));
  const others = begun ? [...initContainers, ...containers].map(({ name }) => name) : [];
  return [...new Set([...running, ...others])];
}
