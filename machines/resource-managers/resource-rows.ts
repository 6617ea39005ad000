import type { Pod } from '../protocol/api-types.ts';
import { atUid, uidEntries } from '../supervisor/uid-table.ts';
import type { ResourceState } from './admit-resources.ts';

/** One line of `actorlet resources`: a container, and what it has of the node alone. */
export interface ResourceRow {
  /** `namespace/name`; the UID when the pod is not known (yet). */
  pod: string;
  uid: string;
  container: string;
  /** As the kernel lists them; '' when it shares what others leave. */
  cpus: string;
  /** `memory 64Mi of node 0`, one for each kind. */
  memory: string[];
}

/** What of the node is whose. */
export interface ResourceTable {
  /** CPUs that all others share; null where CPUs are not given away. */
  shared: string | null;
  /** Memory that is left: of each NUMA node and kind, bytes. Null where memory is not given away. */
  free: { node: number; resource: string; bytes: number; of: number }[] | null;
  rows: ResourceRow[];
}

/** The table of a state, in the order of the pods' names. */
export function resourceTable(state: ResourceState | null, pods: readonly Pod[]): ResourceTable {
  const { cpu = null, memory = null } = state ?? {};
  const names = new Map(pods.map(({ metadata }) => [metadata?.uid ?? '', metadata]));
  const uids = new Set([...uidEntries(cpu?.pods ?? {}), ...uidEntries(memory?.pods ?? {})].map(([uid]) => uid));
  const rows = [...uids].flatMap((uid) => {
    const metadata = names.get(uid);
    const pod = metadata === undefined ? uid : `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
    const [cpus, blocks] = [atUid(cpu?.pods ?? {}, uid) ?? [], atUid(memory?.pods ?? {}, uid) ?? []];
    const containers = new Set([...cpus, ...blocks].map(({ name }) => name));
    return [...containers].map((container) => ({
      ...{ pod, uid, container },
      cpus: cpus.find(({ name }) => name === container)?.cpus ?? '',
      memory: (blocks.find(({ name }) => name === container)?.blocks ?? []).map(
        ({ type, size, numaAffinity }) => `${type} ${size} of node ${numaAffinity.join(',')}`,
      ),
    }));
  });
  rows.sort((a, b) => (a.pod === b.pod ? order(a.container, b.container) : order(a.pod, b.pod)));
  const free = memory?.nodes.flatMap(({ id, memoryMap }) =>
    Object.entries(memoryMap).map(([resource, { free: bytes, allocatable: of }]) => ({
      node: id,
      resource,
      bytes,
      of,
    })),
  );
  return { shared: cpu?.shared ?? null, free: free ?? null, rows };
}

function order(a: string, b: string): number {
  return a < b ? -1 : 1;
}
