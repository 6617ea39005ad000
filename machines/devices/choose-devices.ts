import { maskOf } from '../resource-managers/topology/node-mask.ts';
import type { NodeMask } from '../resource-managers/topology/node-mask.ts';
import { atUid } from '../supervisor/uid-table.ts';
import { isAligned } from './device-hints.ts';
import { healthyIds, idsOf, inUse, isDeviceResource } from './device-state.ts';
import type { Asking, Device, DeviceState, DeviceStep } from './device-state.ts';

/** Devices for one container, what the plugin is to be asked first, or why there are none. */
export type Choice =
  | { t: 'nothing' }
  | { t: 'ids'; ids: string[] }
  | { t: 'prefer'; available: string[]; mustInclude: string[]; size: number }
  | { t: 'refused'; message: string };

const NOTHING: Choice = { t: 'nothing' };

/** What is known of a step's choice. */
export interface ChoiceFacts {
  /** The plugin's answer, undefined before it is asked. */
  preferred?: readonly string[] | undefined;
  /** NUMA nodes that the topology manager wants; null when it wants none. */
  affinity?: NodeMask | null;
}

/**
 * Which devices a container gets (kubelet: devicesToAllocate, its texts): those that init containers of its pod had, then those near
 * to the NUMA nodes that the pod is to be on, of these those that the plugin would like, then any, in the order of their ids.
 */
export function chooseDevices(
  state: DeviceState,
  { uid, reusable, running }: Pick<Asking, 'uid' | 'reusable' | 'running'>,
  { container, resource, count }: DeviceStep,
  { preferred, affinity = null }: ChoiceFacts = {},
): Choice {
  const known = atUid(state.grants, uid)?.[container]?.[resource];
  const has = known === undefined ? undefined : idsOf(known);
  if (has !== undefined && has.length !== count) {
    const change = `changed request for resource "${resource}" from ${has.length} to ${count}`;
    return refused(`pod "${uid}" container "${container}" ${change}`);
  }
  // The agent was restarted, and the container has what it needs.
  if (running.includes(container)) return NOTHING;
  const of = state.resources[resource];
  if (of === undefined || of.devices === null) return refused(`cannot allocate unregistered device ${resource}`);
  const healthy = healthyIds(of);
  if (healthy.length === 0) return refused(`no healthy devices present; cannot allocate unhealthy devices ${resource}`);
  if (has?.some((id) => !healthy.includes(id)))
    return refused(`previously allocated devices are no longer healthy; cannot allocate unhealthy devices ${resource}`);
  if (has !== undefined) return NOTHING;

  const first = [...(reusable[resource] ?? [])].slice(0, count);
  const needed = count - first.length;
  if (needed === 0) return { t: 'ids', ids: first };
  const used = inUse(state, resource);
  const available = healthy.filter((id) => !used.has(id) && !first.includes(id));
  if (available.length < needed) {
    const counts = `Requested: ${needed}, Available: ${available.length}`;
    return refused(`requested number of devices unavailable for ${resource}. ${counts}`);
  }
  const mask = isAligned(state, resource) ? affinity : null;
  const { near, far } = byAffinity(of.devices, available, mask);
  // All that are near, when there are not too many of them: what the topology manager found is kept.
  const sure = needed < near.length ? first : [...first, ...near];
  if (sure.length === count) return { t: 'ids', ids: sure };
  const left = needed < near.length ? near : far;
  const offered = needed < near.length ? near : available;
  if (preferred === undefined && of.plugin?.prefers === true)
    return { t: 'prefer', available: [...new Set([...offered, ...sure])].sort(), mustInclude: sure, size: count };
  const liked = (preferred ?? []).filter((id) => left.includes(id));
  const order = [...new Set([...liked, ...left])];
  return { t: 'ids', ids: [...sure, ...order.slice(0, count - sure.length)] };
}

/**
 * Why the pod, which runs with what it was given, would be refused its devices if it asked again; null when it would not. Kubelet asks its managers
 * also about a pod that is resized, and holds the resize back meanwhile.
 */
export function keptDevicesProblem(state: DeviceState, uid: string, steps: readonly DeviceStep[]): string | null {
  for (const step of steps) {
    if (!isDeviceResource(state, step.resource)) continue;
    const has = atUid(state.grants, uid)?.[step.container]?.[step.resource];
    if (has === undefined) continue;
    const choice = chooseDevices(state, { uid, reusable: {}, running: [] }, step);
    if (choice.t === 'refused') return choice.message;
  }
  return null;
}

/** Devices that are near to one of the nodes; the others after them, those that are nowhere last (kubelet: filterByAffinity). */
function byAffinity(
  devices: Readonly<Record<string, Device>>,
  available: readonly string[],
  mask: NodeMask | null,
): { near: string[]; far: string[] } {
  if (mask === null) return { near: [], far: [...available] };
  const nodesOf = (id: string): readonly number[] => devices[id]?.nodes ?? [];
  const isNear = (id: string): boolean => (maskOf(nodesOf(id)) & mask) !== 0;
  const elsewhere = available.filter((id) => !isNear(id) && nodesOf(id).length > 0);
  const nowhere = available.filter((id) => nodesOf(id).length === 0);
  return { near: available.filter(isNear), far: [...elsewhere, ...nowhere] };
}

function refused(message: string): Choice {
  return { t: 'refused', message };
}
