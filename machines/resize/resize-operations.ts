import type { Pod } from '../protocol/api-types.ts';
import { amountsOf } from '../qos/resource-amounts.ts';
import { resizableContainers } from './requirements.ts';

/** One wished change, as `kubelet_container_requested_resizes_total` counts it. */
export interface ResizeOperation {
  resource: 'memory' | 'cpu';
  requirement: 'requests' | 'limits';
  operation: 'add' | 'remove' | 'increase' | 'decrease';
}

/** What a newer version of a pod asks for otherwise than the one before (kubelet recordResizeOperations). */
export function resizeOperations(before: Pod, after: Pod): ResizeOperation[] {
  const out: ResizeOperation[] = [];
  const newer = new Map(resizableContainers(after).map((container) => [container.name, container]));
  for (const container of resizableContainers(before)) {
    const now = newer.get(container.name);
    if (now === undefined) continue;
    for (const resource of ['memory', 'cpu'] as const) {
      for (const requirement of ['requests', 'limits'] as const) {
        const old = amountsOf(container.resources?.[requirement])[resource] ?? 0n;
        const wanted = amountsOf(now.resources?.[requirement])[resource] ?? 0n;
        if (old === wanted) continue;
        const operation = wanted === 0n ? 'remove' : old === 0n ? 'add' : wanted < old ? 'decrease' : 'increase';
        out.push({ resource, requirement, operation });
      }
    }
  }
  return out;
}
