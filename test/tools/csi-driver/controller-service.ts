/** Identity and controller services of a CSI driver of a test. */
import {
  ControllerServiceCapability_RPC_Type as Rpc,
  PluginCapability_Service_Type as Service,
  PluginCapability_VolumeExpansion_Type as Expansion,
} from '../../../cri/generated/csi/v1/controller.ts';
import type * as csi from '../../../cri/generated/csi/v1/controller.ts';
import type { Attachments } from './attachments.ts';
import { Refusal } from './faults.ts';
import type { NodeTraits } from './node-service.ts';
import type { VolumeStore } from './volume-store.ts';

const INVALID = 3;
const NOT_FOUND = 5;
const EXISTS = 6;
const SMALLEST = 1 << 20;
const CAN = [
  'CREATE_DELETE_VOLUME',
  'PUBLISH_UNPUBLISH_VOLUME',
  'EXPAND_VOLUME',
  'GET_CAPACITY',
  'CLONE_VOLUME',
  'SINGLE_NODE_MULTI_WRITER',
] as const;

/** Answers by method. */
export function identityService(name: string, traits: () => NodeTraits) {
  return {
    getPluginInfo: (): csi.GetPluginInfoResponse => ({ name, vendorVersion: '1.0.0', manifest: {} }),
    getPluginCapabilities: () => ({
      capabilities: [
        { service: { type: Service.CONTROLLER_SERVICE } },
        ...(isPlaced(traits()) ? [{ service: { type: Service.VOLUME_ACCESSIBILITY_CONSTRAINTS } }] : []),
        { volumeExpansion: { type: Expansion.ONLINE } },
      ],
    }),
    probe: () => ({ ready: true }),
  };
}

/** Its volumes can be reached from its own place alone. */
function isPlaced({ topology }: NodeTraits): boolean {
  return Object.keys(topology).length > 0;
}

/** Answers by method. What it makes has the asked size, 1 MiB at least. */
export function controllerService(store: VolumeStore, attachments: Attachments, traits: () => NodeTraits) {
  const need = (value: unknown, what: string): void => {
    if (value === '' || value === undefined || (Array.isArray(value) && value.length === 0))
      throw new Refusal(INVALID, `${what} missing in request`);
  };
  const found = (id: string) => {
    need(id, 'Volume ID');
    const volume = store.get(id);
    if (volume === undefined) throw new Refusal(NOT_FOUND, `volume ${id} not found`);
    return volume;
  };
  return {
    createVolume: (request: csi.CreateVolumeRequest): csi.CreateVolumeResponse => {
      const { name, capacityRange, volumeCapabilities, volumeContentSource } = request;
      need(name, 'Name');
      need(volumeCapabilities, 'Volume capabilities');
      const bytes = Math.max(SMALLEST, Number(capacityRange?.requiredBytes ?? 0));
      const limit = Number(capacityRange?.limitBytes ?? 0);
      if (limit > 0 && bytes > limit) throw new Refusal(11, 'limit is smaller than what is required');
      const block = volumeCapabilities.some((capability) => capability.block !== undefined);
      const before = store.list().find((volume) => volume.name === name);
      if (before !== undefined && before.bytes !== bytes)
        throw new Refusal(EXISTS, `volume ${name} exists with another size`);
      const volume = before ?? { id: `v-${Buffer.from(name).toString('hex').slice(-48)}`, name, bytes, block };
      const source = volumeContentSource?.volume?.volumeId;
      if (source !== undefined && before === undefined) store.copy(found(source).id, volume);
      store.put(volume);
      const accessibleTopology = isPlaced(traits()) ? [{ segments: traits().topology }] : [];
      const contentSource = volumeContentSource && { contentSource: volumeContentSource };
      return {
        volume: {
          ...{ volumeId: volume.id, capacityBytes: String(bytes), volumeContext: {}, accessibleTopology },
          ...contentSource,
        },
      };
    },
    deleteVolume: ({ volumeId }: csi.DeleteVolumeRequest) => {
      need(volumeId, 'Volume ID');
      store.remove(volumeId);
      return {};
    },
    controllerPublishVolume: (request: csi.ControllerPublishVolumeRequest) => {
      const { volumeId, nodeId: node, volumeCapability } = request;
      need(volumeId, 'Volume ID');
      need(node, 'Node ID');
      need(volumeCapability, 'Volume capability');
      if (!traits().anyVolume) found(volumeId);
      if (node !== traits().nodeId) throw new Refusal(NOT_FOUND, `node ${node} not found`);
      attachments.attach(volumeId, node);
      return { publishContext: { attachedBy: 'test' } };
    },
    controllerUnpublishVolume: ({ volumeId }: csi.ControllerUnpublishVolumeRequest) => {
      need(volumeId, 'Volume ID');
      attachments.detach(volumeId);
      return {};
    },
    validateVolumeCapabilities: (
      request: csi.ValidateVolumeCapabilitiesRequest,
    ): csi.ValidateVolumeCapabilitiesResponse => {
      need(request.volumeId, 'Volume ID');
      need(request.volumeCapabilities, 'Volume capabilities');
      found(request.volumeId);
      const { volumeContext, volumeCapabilities, parameters, mutableParameters } = request;
      return { confirmed: { volumeContext, volumeCapabilities, parameters, mutableParameters }, message: '' };
    },
    controllerExpandVolume: ({ volumeId, capacityRange }: csi.ControllerExpandVolumeRequest) => {
      need(volumeId, 'Volume ID');
      need(capacityRange, 'Capacity range');
      const volume = found(volumeId);
      const bytes = Math.max(volume.bytes, Number(capacityRange?.requiredBytes ?? 0));
      store.put({ ...volume, bytes });
      return { capacityBytes: String(bytes), nodeExpansionRequired: true };
    },
    getCapacity: () => ({ availableCapacity: String(store.capacity()) }),
    controllerGetCapabilities: (): csi.ControllerGetCapabilitiesResponse => ({
      capabilities: CAN.map((name) => ({ rpc: { type: Rpc[name] } })),
    }),
  };
}
