import type { Container, Pod } from '../protocol/api-types.ts';
import { atUid, uidEntries } from '../supervisor/uid-table.ts';
import type { ClaimState } from '../claims/claim-state.ts';
import { claimsOfContainer } from '../claims/container-claims.ts';
import { idsOf } from '../devices/device-state.ts';
import type { DeviceState } from '../devices/device-state.ts';
import type { ResourceState } from '../resource-managers/admit-resources.ts';

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
  /** `example.com/gpu a,b` of a device plugin, `claim NAME: DRIVER/POOL/DEVICE` of a driver. */
  devices: string[];
  /**
   * When the node took the pod up (`status.startTime`), RFC 3339: that is when it was given what it has, claims and devices that it
   * waited for a little later. Null when the pod is not known (yet).
   */
  since: string | null;
}

/** What of the node is whose. */
export interface ResourceTable {
  /** CPUs that all others share; null where CPUs are not given away. */
  shared: string | null;
  /** Memory that is left: of each NUMA node and kind, bytes. Null where memory is not given away. */
  free: { node: number; resource: string; bytes: number; of: number }[] | null;
  rows: ResourceRow[];
}

/** Who has what, as the managers know it; null: that manager has nothing to give. */
export interface Holdings {
  resources: ResourceState | null;
  devices: DeviceState | null;
  claims: ClaimState | null;
  /** Gate DRAExtendedResource. */
  extended: boolean;
}

/** UIDs of the pods that have something. */
export function holdersOf({ resources, devices, claims }: Omit<Holdings, 'extended'>): ReadonlySet<string> {
  const tables = [resources?.cpu?.pods ?? {}, resources?.memory?.pods ?? {}, devices?.grants ?? {}];
  const users = Object.values(claims?.claims ?? {}).flatMap((claim) => claim.pods);
  return new Set([...tables.flatMap((table) => uidEntries<unknown>(table).map(([uid]) => uid)), ...users]);
}

/** The table of the managers' states, in the order of the pods' names. */
export function resourceTable({ resources, devices, claims, extended }: Holdings, pods: readonly Pod[]): ResourceTable {
  const { cpu = null, memory = null } = resources ?? {};
  const byUid = new Map(pods.map((pod) => [pod.metadata?.uid ?? '', pod]));
  const uids = holdersOf({ resources, devices, claims });
  const devicesOf = (uid: string, container: string): string[] => [
    ...Object.entries(atUid(devices?.grants ?? {}, uid)?.[container] ?? {}).map(
      ([resource, grant]) => `${resource} ${idsOf(grant).join(',')}`,
    ),
    ...claimed(claims, byUid.get(uid), container, extended),
  ];
  const rows = [...uids].flatMap((uid) => {
    const metadata = byUid.get(uid)?.metadata;
    const pod = metadata === undefined ? uid : `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
    const [cpus, blocks] = [atUid(cpu?.pods ?? {}, uid) ?? [], atUid(memory?.pods ?? {}, uid) ?? []];
    const since = byUid.get(uid)?.status?.startTime ?? null;
    const containers = new Set([
      ...[...cpus, ...blocks].map(({ name }) => name),
      ...Object.keys(atUid(devices?.grants ?? {}, uid) ?? {}),
      ...containersOf(byUid.get(uid)).flatMap(({ name }) => (devicesOf(uid, name).length > 0 ? [name] : [])),
    ]);
    return [...containers].map((container) => ({
      ...{ pod, uid, container },
      cpus: cpus.find(({ name }) => name === container)?.cpus ?? '',
      memory: (blocks.find(({ name }) => name === container)?.blocks ?? []).map(
        ({ type, size, numaAffinity }) => `${type} ${size} of node ${numaAffinity.join(',')}`,
      ),
      devices: devicesOf(uid, container),
      since,
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

function containersOf(pod: Pod | undefined): Container[] {
  return [...(pod?.spec?.initContainers ?? []), ...(pod?.spec?.containers ?? [])];
}

function claimed(claims: ClaimState | null, pod: Pod | undefined, name: string, extended: boolean): string[] {
  const container = containersOf(pod).find((one) => one.name === name);
  if (claims === null || pod === undefined || container === undefined) return [];
  try {
    return claimsOfContainer(claims, pod, container, extended).map((claim) => {
      const devices = Object.entries(claim.drivers).flatMap(([driver, list]) =>
        list.map(({ pool, device }) => `${driver}/${pool}/${device}`),
      );
      return `claim ${claim.name}: ${devices.join(', ') || 'not prepared'}`;
    });
  } catch {
    // It names a claim that was not made yet.
    return [];
  }
}

function order(a: string, b: string): number {
  return a < b ? -1 : 1;
}
