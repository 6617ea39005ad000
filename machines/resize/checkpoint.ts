import { fnv32aOfBytes } from '../values/hash.ts';
import type { PodAllocation } from './allocation.ts';
import { goJson } from '../container-config/go-json.ts';

/** Pods by UID, as one checkpoint holds them. */
export type AllocationEntries = Record<string, PodAllocation>;

/**
 * The text of `allocated_pods_state` or `actuated_pods_state` (kubelet's checkpoint: the data as JSON in a string, and
 * its checksum), so that a kubelet that takes over the node finds what it would have written.
 */
export function checkpointText(entries: AllocationEntries): string {
  const sorted: AllocationEntries = {};
  for (const uid of Object.keys(entries).sort()) {
    const entry = entries[uid];
    if (entry === undefined) continue;
    const ContainerResources: PodAllocation['ContainerResources'] = {};
    for (const name of Object.keys(entry.ContainerResources).sort()) {
      const { limits, requests, claims } = entry.ContainerResources[name] ?? {};
      ContainerResources[name] = {
        ...(limits && Object.keys(limits).length > 0 && { limits: sortedList(limits) }),
        ...(requests && Object.keys(requests).length > 0 && { requests: sortedList(requests) }),
        ...(claims && claims.length > 0 && { claims }),
      };
    }
    sorted[uid] = { ContainerResources, PodLevelResources: entry.PodLevelResources };
  }
  const data = goJson(Object.keys(sorted).length > 0 ? { entries: sorted } : {});
  return goJson({ data, checksum: checkpointSum(data) });
}

/** What a checkpoint holds; null when it is not one or its checksum is wrong. */
export function readCheckpoint(text: string): AllocationEntries | null {
  let outer: { data?: unknown; checksum?: unknown };
  try {
    outer = JSON.parse(text) as typeof outer;
    if (typeof outer.data !== 'string' || checkpointSum(outer.data) !== outer.checksum) return null;
    const { entries } = JSON.parse(outer.data) as { entries?: AllocationEntries };
    const out: AllocationEntries = {};
    for (const [uid, entry] of Object.entries(entries ?? {})) {
      out[uid] = {
        ContainerResources: entry.ContainerResources ?? {},
        PodLevelResources: entry.PodLevelResources ?? null,
      };
    }
    return out;
  } catch {
    return null;
  }
}

/** Kubelet's checksum of a string: FNV-1a, 32 bit, of the string as Go's debug printer shows it. */
export function checkpointSum(data: string): number {
  return fnv32aOfBytes(`(string)${data}`);
}

function sortedList(list: Record<string, string>): Record<string, string> {
  const out: Record<string, string> = {};
  for (const name of Object.keys(list).sort()) out[name] = list[name] ?? '';
  return out;
}
