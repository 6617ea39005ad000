import type { ClaimState } from '../claims/claim-state.ts';
import { allClaimsOfContainer } from '../claims/container-claims.ts';
import type { DeviceState } from '../devices/device-state.ts';
import { healthyIds } from '../devices/device-state.ts';
import type { Container, Pod } from '../protocol/api-types.ts';
import { isSidecar } from '../qos/pod-resources.ts';
import { atUid } from '../supervisor/uid-table.ts';
import type { ResourceGround, ResourceState } from '../resource-managers/admit-resources.ts';
import { parseCpuSetList, sortedCpus } from '../resource-managers/cpu/cpu-set.ts';

/** What the answers are made from. */
export interface PodResourcesFacts {
  /** Null where no device plugin can come. */
  devices: DeviceState | null;
  /** Null where CPUs and memory are not given away. */
  resources: ResourceState | null;
  ground: ResourceGround | null;
  /** Null where no driver can come, or with gate KubeletPodResourcesDynamicResources off. */
  claims: ClaimState | null;
  /** Gate DRAExtendedResource. */
  extended: boolean;
  /** Pods that have not ended: what others had of devices is free, though it may stand with them until somebody asks for it (kubelet: UpdateAllocatedDevices). */
  active: ReadonlySet<string>;
}

/** `ContainerDevices`: one device of one NUMA node, or of none. */
interface ContainerDevices {
  resourceName: string;
  deviceIds: string[];
  topology: Topology | undefined;
}

interface ContainerMemory {
  memoryType: string;
  /** Bytes. */
  size: string;
  topology: Topology;
}

interface Topology {
  nodes: { ID: string }[];
}

/** `DynamicResource`: a claim that the container uses, with its devices. */
interface DynamicResource {
  claimName: string;
  claimNamespace: string;
  claimResources: {
    cdiDevices: { name: string }[];
    driverName: string;
    poolName: string;
    deviceName: string;
    shareId: string | undefined;
  }[];
}

/** `ContainerResources` of the pod-resources API. */
export interface ContainerResources {
  name: string;
  devices: ContainerDevices[];
  cpuIds: string[];
  memory: ContainerMemory[];
  dynamicResources: DynamicResource[];
}

/** `PodResources`: sidecars and regular containers, as kubelet lists them. */
export interface PodResources {
  name: string;
  namespace: string;
  containers: ContainerResources[];
}

/** What a pod has of the node alone. */
export function podResources(pod: Pod, facts: PodResourcesFacts): PodResources {
  const { metadata, spec } = pod;
  const uid = metadata?.uid ?? '';
  const listed = [...(spec?.initContainers ?? []).filter(isSidecar), ...(spec?.containers ?? [])];
  return {
    name: metadata?.name ?? '',
    namespace: metadata?.namespace ?? '',
    containers: listed.map((container) => ({
      name: container.name,
      devices: devicesOf(facts, uid, container.name),
      cpuIds: cpusOf(facts, uid, container.name),
      memory: memoryOf(facts, uid, container.name),
      dynamicResources: claimsOf(facts, pod, container),
    })),
  };
}

/** The same as the first version of the API tells it: devices of regular containers. */
export function alphaPodResources({ metadata, spec }: Pod, facts: PodResourcesFacts) {
  const uid = metadata?.uid ?? '';
  const of = (name: string) =>
    devicesOf(facts, uid, name).map(({ resourceName, deviceIds }) => ({ resourceName, deviceIds }));
  return {
    name: metadata?.name ?? '',
    namespace: metadata?.namespace ?? '',
    containers: (spec?.containers ?? []).map(({ name }) => ({ name, devices: of(name) })),
  };
}

/** None for a container one of whose claims has no name yet, or is not known (any more), as with kubelet. */
function claimsOf({ claims, extended }: PodResourcesFacts, pod: Pod, container: Container): DynamicResource[] {
  if (claims === null) return [];
  try {
    return allClaimsOfContainer(claims, pod, container, extended).map(({ name, namespace, drivers }) => ({
      claimName: name,
      claimNamespace: namespace,
      claimResources: Object.entries(drivers).flatMap(([driverName, devices]) =>
        devices.map(({ pool, device, share, cdi }) => ({
          cdiDevices: cdi.map((one) => ({ name: one })),
          ...{ driverName, poolName: pool, deviceName: device, shareId: share ?? undefined },
        })),
      ),
    }));
  } catch {
    return [];
  }
}

/** What there is to be given away: healthy devices, CPUs that are not reserved, memory of each NUMA node; whoever has it. */
export function allocatableResources({ devices, resources, ground }: PodResourcesFacts): {
  devices: ContainerDevices[];
  cpuIds: string[];
  memory: ContainerMemory[];
} {
  const cpu = ground?.cpu ?? null;
  return {
    devices: Object.entries(devices?.resources ?? {}).flatMap(([name, resource]) =>
      healthyIds(resource).flatMap((id) => deviceRows(name, id, resource.devices?.[id]?.nodes ?? [])),
    ),
    cpuIds:
      cpu === null
        ? []
        : sortedCpus(cpu.topology.places.keys())
            .filter((id) => !cpu.reserved.has(id))
            .map(String),
    memory: (resources?.memory?.nodes ?? []).flatMap(({ id, memoryMap }) =>
      Object.entries(memoryMap)
        // Huge pages of a size that the machine knows, and has none of (kubelet's `GetAllocatableMemory`).
        .filter(([, { allocatable }]) => allocatable !== 0)
        .map(([memoryType, { allocatable }]) => ({
          ...{ memoryType, size: String(allocatable), topology: topologyOf([id]) },
        })),
    ),
  };
}

function devicesOf({ devices, active }: PodResourcesFacts, uid: string, container: string): ContainerDevices[] {
  if (!active.has(uid)) return [];
  const grants = atUid(devices?.grants ?? {}, uid)?.[container] ?? {};
  return Object.entries(grants).flatMap(([name, { ids }]) =>
    Object.entries(ids).flatMap(([node, of]) =>
      of.flatMap((id) => deviceRows(name, id, Number(node) < 0 ? [] : [Number(node)])),
    ),
  );
}

function deviceRows(resourceName: string, id: string, nodes: readonly number[]): ContainerDevices[] {
  if (nodes.length === 0) return [{ resourceName, deviceIds: [id], topology: undefined }];
  return nodes.map((node) => ({ resourceName, deviceIds: [id], topology: topologyOf([node]) }));
}

function cpusOf({ resources }: PodResourcesFacts, uid: string, container: string): string[] {
  const grants = atUid(resources?.cpu?.pods ?? {}, uid) ?? [];
  const cpus = grants.find(({ name }) => name === container)?.cpus ?? '';
  return sortedCpus(parseCpuSetList(cpus)).map(String);
}

function memoryOf({ resources }: PodResourcesFacts, uid: string, container: string): ContainerMemory[] {
  const grants = atUid(resources?.memory?.pods ?? {}, uid) ?? [];
  const blocks = grants.find(({ name }) => name === container)?.blocks ?? [];
  return blocks.map(({ type, size, numaAffinity }) => ({
    ...{ memoryType: type, size: String(size), topology: topologyOf(numaAffinity) },
  }));
}

function topologyOf(nodes: readonly number[]): Topology {
  return { nodes: nodes.map((node) => ({ ID: String(node) })) };
}
