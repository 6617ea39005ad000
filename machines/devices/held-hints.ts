import type { HeldHints, ResourceHints } from '../resource-managers/topology/hints.ts';
import type { Pod } from '../protocol/api-types.ts';
import { atUid } from '../supervisor/uid-table.ts';
import { allHints } from './device-hints.ts';
import type { HintAsk } from './device-hints.ts';
import { isDeviceResource } from './device-state.ts';
import type { Alignment, DeviceState } from './device-state.ts';
import { deviceSteps } from './device-steps.ts';

/**
 * Where a pod that runs can be by the devices that it has, by container, '' for the pod as a whole: when it is resized, kubelet's topology manager asks
 * the device manager as for one that comes (GetTopologyHints, which makes the hints of what is allocated again). Null: it has none.
 */
export function heldHints(
  state: DeviceState,
  pod: Pod,
  { nodes, ofPod }: Alignment,
  extended: boolean,
): HeldHints | null {
  const uid = pod.metadata?.uid ?? '';
  if (atUid(state.grants, uid) === undefined) return null;
  const ask = (container: string | null, resource: string, count: number): HintAsk[] =>
    isDeviceResource(state, resource) ? [{ uid, container, resource, count, reusable: [] }] : [];
  const asks = new Map<string, HintAsk[]>();
  if (ofPod !== null)
    asks.set(
      '',
      Object.entries(ofPod).flatMap(([resource, count]) => ask(null, resource, count)),
    );
  else
    for (const { container, resource, count } of deviceSteps(pod, undefined, extended))
      asks.set(container, [...(asks.get(container) ?? []), ...ask(container, resource, count)]);
  const hints: Record<string, ResourceHints> = {};
  for (const [container, its] of asks) if (its.length > 0) hints[container] = allHints(state, nodes, its);
  return Object.keys(hints).length > 0 ? hints : null;
}
