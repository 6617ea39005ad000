import { healthyIds } from './device-state.ts';
import type { DeviceState } from './device-state.ts';

/** Numbers of devices by resource, as a node's status has them: all, and the healthy ones. */
export interface DeviceCapacity {
  capacity: Record<string, string>;
  allocatable: Record<string, string>;
  /** Nothing was left here of an agent before this one: what the node's object says of extended resources is of a machine that is no more. */
  machineIsNew?: true;
}

/** What the node has of each resource; 0 of those whose plugin went for good. */
export function deviceCapacity({ resources }: DeviceState): DeviceCapacity {
  const capacity: Record<string, string> = {};
  const allocatable: Record<string, string> = {};
  for (const [name, resource] of Object.entries(resources)) {
    const { devices, stoppedAt } = resource;
    // One that has only just registered has told nothing yet.
    if (devices === null && stoppedAt === null) continue;
    capacity[name] = String(Object.keys(devices ?? {}).length);
    allocatable[name] = String(healthyIds(resource).length);
  }
  return { capacity, allocatable };
}
