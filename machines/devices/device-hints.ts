import { maskOf, masksOf, sizeOf } from '../resource-managers/topology/node-mask.ts';
import type { NodeMask } from '../resource-managers/topology/node-mask.ts';
import type { ResourceHints, TopologyHint } from '../resource-managers/topology/hints.ts';
import { atUid } from '../supervisor/uid-table.ts';
import { healthyIds, idsOf, inUse } from './device-state.ts';
import type { Device, DeviceState } from './device-state.ts';

/** What is asked of devices of one resource, by a container or by a pod as a whole. */
export interface HintAsk {
  uid: string;
  /** Null: for the pod as a whole. */
  container: string | null;
  resource: string;
  count: number;
  /** Devices of init containers of the pod that may be had again. */
  reusable: readonly string[];
}

/** Does the plugin say of any device where it is? Then its devices are aligned. */
export function isAligned({ resources }: Pick<DeviceState, 'resources'>, resource: string): boolean {
  return Object.values(resources[resource]?.devices ?? {}).some(({ nodes }) => nodes.length > 0);
}

/**
 * From which sets of NUMA nodes the devices could be had (kubelet's devicemanager: GetTopologyHints). Null: it does not matter; none:
 * they cannot be had at all.
 * @param nodes NUMA nodes of the machine
 */
export function deviceHints(
  state: DeviceState,
  nodes: readonly number[],
  ask: HintAsk,
): readonly TopologyHint[] | null {
  const { uid, container, resource, count } = ask;
  const of = state.resources[resource];
  if (of === undefined || !isAligned(state, resource)) return null;
  const devices = of.devices ?? {};
  const has = held(state, uid, container, resource);
  if (has.length > 0) return has.length === count ? hintsOf(devices, nodes, has, [], count) : [];
  const used = inUse(state, resource);
  const available = healthyIds(of).filter((id) => !used.has(id));
  const reusable = container === null ? [] : ask.reusable;
  if (new Set([...available, ...reusable]).size < count) return [];
  return hintsOf(devices, nodes, available, reusable, count);
}

/** Hints of several resources, as the topology manager takes them: those without a preference count as one that takes any node. */
export function allHints(state: DeviceState, nodes: readonly number[], asks: readonly HintAsk[]): ResourceHints {
  const anywhere: TopologyHint = { nodes: null, preferred: true };
  return Object.fromEntries(asks.map((ask) => [ask.resource, deviceHints(state, nodes, ask) ?? [anywhere]]));
}

function held(state: DeviceState, uid: string, container: string | null, resource: string): string[] {
  const containers = atUid(state.grants, uid) ?? {};
  const grants = container === null ? Object.values(containers) : [containers[container] ?? {}];
  return [...new Set(grants.flatMap((of) => (of[resource] === undefined ? [] : idsOf(of[resource]))))];
}

function hintsOf(
  devices: Readonly<Record<string, Device>>,
  nodes: readonly number[],
  available: readonly string[],
  reusable: readonly string[],
  count: number,
): TopologyHint[] {
  const near = (id: string): NodeMask => maskOf((devices[id]?.nodes ?? []).filter((node) => nodes.includes(node)));
  const all = Object.keys(devices).map(near);
  const free = available.map(near);
  const again = reusable.filter((id) => (devices[id]?.nodes.length ?? 0) > 0).map(near);
  let least = nodes.length;
  const found: NodeMask[] = [];
  for (const mask of masksOf(nodes)) {
    const within = (of: readonly NodeMask[]): number => of.filter((one) => (one & mask) !== 0).length;
    if (within(all) >= count) least = Math.min(least, sizeOf(mask));
    // What its init containers had has to be a part of it.
    if (within(again) < again.length || again.length + within(free) < count) continue;
    found.push(mask);
  }
  return found.map((mask) => ({ nodes: mask, preferred: sizeOf(mask) === least }));
}
