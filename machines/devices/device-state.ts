import type { NodeMask } from '../resource-managers/topology/node-mask.ts';
import type { UidTable } from '../supervisor/uid-table.ts';

/** One device of a plugin. */
export interface Device {
  /** The plugin says `Healthy` of it. */
  healthy: boolean;
  /** NUMA nodes that it is near to; none when the plugin does not say. */
  nodes: readonly number[];
}

/** What a device plugin says of itself when it registers (`DevicePluginOptions`). */
export interface PluginOptions {
  /** It is asked before each start of a container (`PreStartContainer`). */
  preStart: boolean;
  /** It may choose among the devices (`GetPreferredAllocation`). */
  prefers: boolean;
}

/** An extended resource that a plugin was there for once. */
export interface DeviceResource {
  /** Null: none were told since it registered for the first time, or it has been away for too long. */
  devices: Readonly<Record<string, Device>> | null;
  /** Null while no plugin is connected. */
  plugin: PluginOptions | null;
  /** The plugin of now has told its devices. Before that, and after it went, none is healthy. */
  told: boolean;
  /** When its plugin went, ms of a clock that nobody sets; null while there is one. */
  stoppedAt: number | null;
  /** Since when its plugin has told no devices, ms of that clock; absent while one has, and where pods do not wait for plugins. */
  missingSince?: number;
}

/** What a plugin answers to `Allocate` for one container (`ContainerAllocateResponse`). */
export interface AllocateResponse {
  envs: Readonly<Record<string, string>>;
  mounts: readonly { containerPath: string; hostPath: string; readOnly: boolean }[];
  devices: readonly { containerPath: string; hostPath: string; permissions: string }[];
  annotations: Readonly<Record<string, string>>;
  cdiDevices: readonly { name: string }[];
}

/** Devices of one resource that one container has. */
export interface DeviceGrant {
  /** Ids by NUMA node, `-1` for those without one; a device that is near to several stands under each (kubelet's `DevicesPerNUMA`). */
  ids: Readonly<Record<string, readonly string[]>>;
  response: AllocateResponse;
}

/** Grants of a pod: by container, then by resource. */
export type PodGrants = Readonly<Record<string, Readonly<Record<string, DeviceGrant>>>>;

/** What one container asks of one resource. */
export interface DeviceStep {
  container: string;
  /** An init container's devices are given to containers after it; a sidecar keeps its own. */
  kind: 'init' | 'sidecar' | 'regular';
  resource: string;
  count: number;
}

/** What devices are aligned by. */
export interface Alignment {
  /** NUMA nodes of the machine. */
  nodes: readonly number[];
  /** With scope `pod`: what the pod asks as a whole, by resource; null with scope `container`. */
  ofPod: Readonly<Record<string, number>> | null;
}

/** A pod that is being given its devices. */
export interface Asking {
  uid: string;
  steps: readonly DeviceStep[];
  /** The step at hand. */
  at: number;
  /** Devices of init containers of this pod, by resource, that later containers may have again. */
  reusable: Readonly<Record<string, readonly string[]>>;
  /** Containers that run while not all sources of pods have spoken: the agent was restarted, and they have their devices. */
  running: readonly string[];
  /** How the topology manager wants it; absent: nothing is aligned. */
  alignment?: Alignment;
  /** What it wanted, by container, '' for the pod as a whole: NUMA nodes, null for any. */
  affinity?: Readonly<Record<string, NodeMask | null>>;
  /** It is asked for the step at hand. */
  aligning?: boolean;
  /** Chosen for the step at hand; the plugin is asked for them. Null: it is asked which ones it would like. */
  chosen: readonly string[] | null;
}

/** The memory of the device manager, plain JSON. */
export interface DeviceState {
  readonly resources: Readonly<Record<string, DeviceResource>>;
  readonly grants: UidTable<PodGrants>;
  /** One pod after the other. */
  readonly asking: Asking | null;
  /** Absent where pods do not wait for plugins. */
  readonly patience?: Patience;
}

/** How long pods wait for plugins that were there before. */
export interface Patience {
  /** For so long after a plugin went, or the agent began, ms. */
  ms: number;
  /** When the agent began, ms of a clock that nobody sets. */
  begunAt: number;
}

/** Nothing has registered. */
export const NO_DEVICES: DeviceState = { resources: {}, grants: {}, asking: null };

/** A plugin may be away for so long before its resource is taken from the node, ms (kubelet: endpointStopGracePeriod). */
export const STOP_GRACE_MS = 5 * 60_000;

/** Ids of a grant, each once. */
export function idsOf({ ids }: DeviceGrant): string[] {
  return [...new Set(Object.values(ids).flat())];
}

/** Ids of the devices that a resource has and that are healthy, in order; none after its plugin went. */
export function healthyIds({ devices, told }: DeviceResource): string[] {
  if (!told || devices === null) return [];
  return Object.keys(devices)
    .filter((id) => devices[id]?.healthy)
    .sort();
}

/** Is there a plugin for the resource, was there one, or has a pod devices of it? Then it is no other's resource. */
export function isDeviceResource({ resources, grants }: DeviceState, resource: string): boolean {
  return (resources[resource]?.devices ?? null) !== null || inUse({ grants }, resource).size > 0;
}

/** Ids of the resource that pods have. */
export function inUse({ grants }: Pick<DeviceState, 'grants'>, resource: string): Set<string> {
  const ids = new Set<string>();
  for (const containers of podsOf(grants))
    for (const resources of Object.values(containers)) {
      const grant = resources[resource];
      if (grant !== undefined) for (const id of idsOf(grant)) ids.add(id);
    }
  return ids;
}

function podsOf(grants: UidTable<PodGrants>): PodGrants[] {
  return Object.values(grants).flatMap((bucket) => Object.values(bucket));
}
