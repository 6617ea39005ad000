import type { Container, Pod } from '../protocol/api-types.ts';
import type { Requirements } from '../protocol/requirements.ts';
import { isSidecar } from '../qos/pod-resources.ts';
import { amountsOf, milli, units } from '../qos/resource-amounts.ts';
import type { ResourceList } from '../qos/resource-amounts.ts';

/** The resources that can be resized (KEP-1287). */
export type ResizableResource = 'cpu' | 'memory';

/** What of a container's resources can be resized; 0 = not set. CPU in milli cores, memory in bytes. */
export interface Sizes {
  cpuRequest: number;
  cpuLimit: number;
  memoryRequest: number;
  memoryLimit: number;
}

/** The sizes that `resources` ask for. */
export function sizesOf(resources: Requirements | undefined): Sizes {
  const requests = amountsOf(resources?.requests);
  const limits = amountsOf(resources?.limits);
  return {
    cpuRequest: milli(requests['cpu']),
    cpuLimit: milli(limits['cpu']),
    memoryRequest: units(requests['memory']),
    memoryLimit: units(limits['memory']),
  };
}

/** Do both ask for the same cpu and memory? Other resources cannot be resized. */
export function sameSizes(a: Requirements | undefined, b: Requirements | undefined): boolean {
  return sameSize(sizesOf(a), sizesOf(b), 'cpu') && sameSize(sizesOf(a), sizesOf(b), 'memory');
}

/** Do both ask for the same of one resource? */
export function sameSize(a: Sizes, b: Sizes, resource: ResizableResource): boolean {
  if (resource === 'cpu') return a.cpuRequest === b.cpuRequest && a.cpuLimit === b.cpuLimit;
  return a.memoryRequest === b.memoryRequest && a.memoryLimit === b.memoryLimit;
}

/** Are the requirements the same, by value (`1000m` is `1`; no list is as good as an empty one)? */
export function sameRequirements(a: Requirements | undefined, b: Requirements | undefined): boolean {
  return (
    sameList(a?.requests, b?.requests) &&
    sameList(a?.limits, b?.limits) &&
    JSON.stringify(a?.claims ?? []) === JSON.stringify(b?.claims ?? [])
  );
}

function sameList(a: ResourceList | undefined, b: ResourceList | undefined): boolean {
  const [one, other] = [amountsOf(a), amountsOf(b)];
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

/** `from` with one resource as `to` has it: what is in force after a call that changes only that resource. */
export function withResource(
  from: Requirements | undefined,
  to: Requirements | undefined,
  resource: ResizableResource,
): Requirements {
  const out: Requirements = { ...from };
  for (const list of ['requests', 'limits'] as const) {
    const wanted = to?.[list]?.[resource];
    const kept: ResourceList = { ...from?.[list] };
    if (wanted === undefined) delete kept[resource];
    else kept[resource] = wanted;
    if (Object.keys(kept).length > 0) out[list] = kept;
    else delete out[list];
  }
  return out;
}

/** Containers whose resources can be changed while they run: regular ones and sidecars, in the order of the spec, init containers first. */
export function resizableContainers(pod: Pod): Container[] {
  return [...(pod.spec?.initContainers ?? []).filter(isSidecar), ...(pod.spec?.containers ?? [])];
}
