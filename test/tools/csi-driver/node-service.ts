/** The node service of a CSI driver of a test. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { VolumeCapability } from '../../../cri/generated/csi/v1/node.ts';
import {
  NodeServiceCapability_RPC_Type as Rpc,
  VolumeCapability_AccessMode_Mode as Mode,
  VolumeUsage_Unit as Unit,
} from '../../../cri/generated/csi/v1/node.ts';
import type * as csi from '../../../cri/generated/csi/v1/node.ts';
import type { Attachments } from './attachments.ts';
import { Refusal } from './faults.ts';
import type { MountWish } from './loop-devices.ts';
import type { VolumeStore } from './volume-store.ts';

const INVALID = 3;
const NOT_FOUND = 5;
const EXISTS = 6;
const PRECONDITION = 9;
const INLINE_BYTES = 64 << 20;

/** What the node of a test driver is. */
export interface NodeTraits {
  nodeId: string;
  maxVolumes: number;
  topology: Record<string, string>;
  /** By their names in the contract. */
  capabilities: readonly (keyof typeof Rpc)[];
  /** Volumes that nobody made are there: those of a test that only has a PV, and inline ones. */
  anyVolume: boolean;
  /** What is staged must be attached (ControllerPublishVolume) before. */
  attaches: boolean;
}

/** Answers by method. */
export function nodeService(store: VolumeStore, attachments: Attachments, traits: () => NodeTraits) {
  /** How what is published was asked for, by its target. */
  const published = new Map<string, string>();
  const staged = new Map<string, string>();
  const need = (value: unknown, what: string): void => {
    if (value === '' || value === undefined) throw new Refusal(INVALID, `${what} missing in request`);
  };
  const volume = (id: string, block = false): void => {
    if (store.get(id) !== undefined) return;
    if (!traits().anyVolume) throw new Refusal(NOT_FOUND, `volume ${id} not found`);
    store.put({ id, name: id, bytes: 1 << 20, block });
  };
  const isPublished = (id: string): boolean => [...published.values()].some((how) => how.startsWith(`${id} `));
  /** A volume of one pod, made for it. */
  const inline = (id: string, context: Readonly<Record<string, string>>): boolean => {
    if (context['csi.storage.k8s.io/ephemeral'] !== 'true') return false;
    if (store.get(id) === undefined) store.put({ id, name: id, bytes: INLINE_BYTES, block: false, inline: true });
    return true;
  };
  const same = (known: Map<string, string>, path: string, request: string): boolean => {
    const before = known.get(path);
    if (before !== undefined && before !== request) throw new Refusal(EXISTS, `${path} is used in another way`);
    return before !== undefined;
  };
  return {
    nodeGetInfo: (): csi.NodeGetInfoResponse => {
      const { nodeId, maxVolumes, topology } = traits();
      const there = Object.keys(topology).length > 0;
      return {
        nodeId,
        maxVolumesPerNode: String(maxVolumes),
        ...(there && { accessibleTopology: { segments: topology } }),
      };
    },
    nodeGetCapabilities: (): csi.NodeGetCapabilitiesResponse => ({
      capabilities: traits().capabilities.map((name) => ({ rpc: { type: Rpc[name] } })),
    }),
    nodeStageVolume: ({ volumeId, stagingTargetPath, volumeCapability }: csi.NodeStageVolumeRequest) => {
      need(volumeId, 'Volume ID');
      need(stagingTargetPath, 'Staging target path');
      need(volumeCapability, 'Volume capability');
      volume(volumeId, volumeCapability?.block !== undefined);
      attachments.stage(volumeId, stagingTargetPath, traits().attaches);
      if (!same(staged, stagingTargetPath, key(volumeId, volumeCapability)) && volumeCapability?.block === undefined)
        store.stage(volumeId, stagingTargetPath, wishOf(volumeCapability));
      staged.set(stagingTargetPath, key(volumeId, volumeCapability));
      return {};
    },
    nodeUnstageVolume: ({ volumeId, stagingTargetPath }: csi.NodeUnstageVolumeRequest) => {
      need(volumeId, 'Volume ID');
      need(stagingTargetPath, 'Staging target path');
      store.hide(stagingTargetPath);
      attachments.unstage(stagingTargetPath);
      staged.delete(stagingTargetPath);
      if (!isPublished(volumeId)) store.release(volumeId);
      return {};
    },
    nodePublishVolume: (request: csi.NodePublishVolumeRequest) => {
      const { volumeId, stagingTargetPath, targetPath, volumeCapability, volumeContext, readonly } = request;
      need(volumeId, 'Volume ID');
      need(targetPath, 'Target path');
      need(volumeCapability, 'Volume capability');
      const block = volumeCapability?.block !== undefined;
      const ofPod = inline(volumeId, volumeContext);
      volume(volumeId, block);
      if (!ofPod && traits().capabilities.includes('STAGE_UNSTAGE_VOLUME') && !block && stagingTargetPath !== '')
        if (!store.isShown(stagingTargetPath))
          throw new Refusal(PRECONDITION, `${volumeId} is not staged at ${stagingTargetPath}`);
      const how = `${key(volumeId, volumeCapability)} ${readonly}`;
      if (same(published, targetPath, how)) return {};
      if (volumeCapability?.accessMode?.mode === Mode.SINGLE_NODE_SINGLE_WRITER && isPublished(volumeId))
        throw new Refusal(PRECONDITION, `volume ${volumeId} is published elsewhere`);
      const source = block || stagingTargetPath === '' ? store.dataOf(volumeId) : stagingTargetPath;
      if (ofPod) {
        const { fsType, options } = wishOf(volumeCapability);
        store.stage(volumeId, targetPath, { fsType, options: readonly ? [...options, 'ro'] : options });
      } else store.show(volumeId, source, targetPath, block, readonly);
      published.set(targetPath, how);
      return {};
    },
    nodeUnpublishVolume: ({ volumeId, targetPath }: csi.NodeUnpublishVolumeRequest) => {
      need(volumeId, 'Volume ID');
      need(targetPath, 'Target path');
      store.hide(targetPath);
      published.delete(targetPath);
      const found = store.get(volumeId);
      if (isPublished(volumeId) || found === undefined) return {};
      if (found.block || found.inline === true) store.release(volumeId);
      if (found.inline === true) store.remove(volumeId);
      return {};
    },
    nodeGetVolumeStats: ({ volumeId, volumePath }: csi.NodeGetVolumeStatsRequest): csi.NodeGetVolumeStatsResponse => {
      need(volumeId, 'Volume ID');
      need(volumePath, 'Volume path');
      if (store.get(volumeId) === undefined || !existsSync(volumePath))
        throw new Refusal(NOT_FOUND, `volume ${volumeId} not found at ${volumePath}`);
      const { total, used, inodes, inodesFree } = store.usage(volumeId, volumePath);
      const told = (n: number): string => String(Math.max(0, n));
      return {
        usage: [
          { unit: Unit.BYTES, total: told(total), used: told(used), available: told(total - used) },
          { unit: Unit.INODES, total: told(inodes), used: told(inodes - inodesFree), available: told(inodesFree) },
        ],
        volumeCondition: { abnormal: existsSync(join(store.dataOf(volumeId), 'abnormal')), message: 'as it is' },
      };
    },
    nodeExpandVolume: ({ volumeId, volumePath, capacityRange }: csi.NodeExpandVolumeRequest) => {
      need(volumeId, 'Volume ID');
      need(volumePath, 'Volume path');
      const found = store.get(volumeId);
      if (found === undefined) throw new Refusal(NOT_FOUND, `volume ${volumeId} not found`);
      const bytes = Math.max(found.bytes, Number(capacityRange?.requiredBytes ?? 0));
      store.put({ ...found, bytes });
      store.grow(volumeId);
      return { capacityBytes: String(bytes) };
    },
  };
}

function wishOf(capability: VolumeCapability | undefined): MountWish {
  return { fsType: capability?.mount?.fsType ?? '', options: capability?.mount?.mountFlags ?? [] };
}

function key(id: string, capability: VolumeCapability | undefined): string {
  return `${id} ${JSON.stringify(capability)}`;
}
