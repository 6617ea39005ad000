import { atUid } from '../supervisor/uid-table.ts';
import { healthyIds, idsOf, inUse } from './device-state.ts';
import type { Asking, DeviceState, DeviceStep } from './device-state.ts';

/** Devices for one container, what the plugin is to be asked first, or why there are none. */
export type Choice =
  | { t: 'nothing' }
  | { t: 'ids'; ids: string[] }
  | { t: 'prefer'; available: string[]; mustInclude: string[]; size: number }
  | { t: 'refused'; message: string };

const NOTHING: Choice = { t: 'nothing' };

/**
 * Which devices a container gets (kubelet: devicesToAllocate, its texts): those that init containers of its pod had, then those
 * that the plugin would like, then any, in the order of their ids. `preferred`: the plugin's answer, undefined before it is asked.
 */
export function chooseDevices(
  state: DeviceState,
  { uid, reusable, running }: Pick<Asking, 'uid' | 'reusable' | 'running'>,
  { container, resource, count }: DeviceStep,
  preferred?: readonly string[],
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
  if (preferred === undefined && of.plugin?.prefers === true)
    return { t: 'prefer', available: [...available, ...first].sort(), mustInclude: first, size: count };
  const liked = (preferred ?? []).filter((id) => available.includes(id));
  const order = [...new Set([...liked, ...available])];
  return { t: 'ids', ids: [...first, ...order.slice(0, needed)] };
}

function refused(message: string): Choice {
  return { t: 'refused', message };
}
