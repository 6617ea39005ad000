import type { PodHealth, ResourceHealth } from '../protocol/resource-health.ts';
import { atUid } from '../supervisor/uid-table.ts';
import { idsOf } from './device-state.ts';
import type { DeviceState } from './device-state.ts';

/**
 * How the devices of a pod's containers are (kubelet: devicemanager.UpdateAllocatedResourcesStatus). `Unknown`, as the API has it, while
 * their plugin is away or does not list them; kubelet 1.35 calls these by what it heard last, and by `Healthy` what it never heard of.
 */
export function deviceHealth({ resources, grants }: Pick<DeviceState, 'resources' | 'grants'>, uid: string): PodHealth {
  const health = (resource: string, id: string): ResourceHealth => {
    const of = resources[resource];
    const device = of?.told === true ? of.devices?.[id] : undefined;
    return { resourceID: id, health: device === undefined ? 'Unknown' : device.healthy ? 'Healthy' : 'Unhealthy' };
  };
  return Object.fromEntries(
    Object.entries(atUid(grants, uid) ?? {}).map(([container, of]) => [
      container,
      Object.keys(of)
        .sort()
        .map((name) => ({
          name,
          resources: (of[name] === undefined ? [] : idsOf(of[name]).sort()).map((id) => health(name, id)),
        })),
    ]),
  );
}
