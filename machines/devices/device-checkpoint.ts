import { goJson } from '../container-config/go-json.ts';
import { fnv32aOfBytes } from '../values/hash.ts';

/** One row of `kubelet_internal_checkpoint`: devices of one resource that one container has. */
export interface DeviceEntry {
  PodUID: string;
  ContainerName: string;
  ResourceName: string;
  /** Ids by NUMA node, `-1` for those without one. */
  DeviceIDs: Readonly<Record<string, readonly string[]>>;
  /** `ContainerAllocateResponse` as protobuf, base64. */
  AllocResp: string;
}

/** What the device manager keeps: kubelet's checkpointData. */
export interface DeviceCheckpoint {
  entries: readonly DeviceEntry[];
  /** Healthy devices by resource. */
  registered: Readonly<Record<string, readonly string[]>>;
}

/** The text of the checkpoint, as kubelet writes and reads it, but for the order of numbers as keys: its checksum is of the data. */
export function deviceCheckpointText({ entries, registered }: DeviceCheckpoint): string {
  const Data = {
    PodDeviceEntries: entries.length === 0 ? null : entries,
    RegisteredDevices: sortedLists(registered),
  };
  return goJson({ Data, Checksum: checksumOf({ entries, registered }) });
}

/** What a checkpoint holds; null when it is none or its checksum is wrong. */
export function readDeviceCheckpoint(text: string): DeviceCheckpoint | null {
  try {
    const { Data, Checksum } = JSON.parse(text) as {
      Data: { PodDeviceEntries: DeviceEntry[] | null; RegisteredDevices: Record<string, string[] | null> | null };
      Checksum: number;
    };
    const entries = (Data.PodDeviceEntries ?? []).map((entry) => ({
      ...entry,
      DeviceIDs: lists(entry.DeviceIDs),
      AllocResp: (entry.AllocResp as string | null) ?? '',
    }));
    const checkpoint = { entries, registered: lists(Data.RegisteredDevices ?? {}) };
    return entries.every(isEntry) && checksumOf(checkpoint) === Checksum ? checkpoint : null;
  } catch {
    return null;
  }
}

function isEntry({ PodUID, ContainerName, ResourceName, AllocResp }: DeviceEntry): boolean {
  return [PodUID, ContainerName, ResourceName, AllocResp].every((value) => typeof value === 'string');
}

function lists(of: Record<string, readonly string[] | null>): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(of).map(([name, ids]) => [name, ids ?? []]));
}

function sortedLists(of: Readonly<Record<string, readonly string[]>>): Record<string, readonly string[]> {
  return Object.fromEntries(
    Object.keys(of)
      .sort()
      .map((name) => [name, of[name] ?? []]),
  );
}

/** Kubelet's checksum: FNV-1a, 32 bit, of the data as Go's debug printer shows it. */
function checksumOf({ entries, registered }: DeviceCheckpoint): number {
  const rows = entries.map((entry) => {
    const { PodUID, ContainerName, ResourceName, DeviceIDs } = entry;
    const nodes = Object.keys(DeviceIDs).sort((a, b) => Number(a) - Number(b));
    const ids = nodes.map((node) => `${node}:${goList(DeviceIDs[node] ?? [])}`).join(' ');
    const names = `PodUID:(string)${PodUID} ContainerName:(string)${ContainerName} ResourceName:(string)${ResourceName}`;
    const bytes = [...atob(entry.AllocResp)].map((byte) => byte.charCodeAt(0)).join(' ');
    return `{${names} DeviceIDs:(checkpoint.DevicesPerNUMA)map[${ids}] AllocResp:([]uint8)[${bytes}]}`;
  });
  const list = entries.length === 0 ? '<nil>' : `[${rows.join(' ')}]`;
  const names = Object.keys(registered).sort();
  const all = names.map((name) => `${name}:${goList(registered[name] ?? [])}`).join(' ');
  return fnv32aOfBytes(
    `(checkpoint.checkpointData){PodDeviceEntries:([]checkpoint.PodDevicesEntry)${list} RegisteredDevices:(map[string][]string)map[${all}]}`,
  );
}

function goList(ids: readonly string[]): string {
  return `[${ids.join(' ')}]`;
}
