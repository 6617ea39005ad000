import type { Volume } from '../protocol/api-types.ts';
import type { PersistentVolume } from '../protocol/storage-types.ts';
import { deviceOfPlace } from './iscsi-names.ts';

/** An iSCSI volume, of a PV or inline in a pod. */
export interface IscsiSource {
  /** As the volume names it: kubelet's name of the device has it in this spelling. */
  targetPortal: string;
  /** All portals with their ports, the first one being {@link targetPortal}. */
  portals: string[];
  iqn: string;
  lun: number;
  /** The interface record that the volume names. */
  initIface: string;
  /** The one that is used: for an initiator name of its own a copy of the first, `PORTAL:VOLUME`. */
  iface: string;
  /** '' = that of the machine. */
  initiatorName: string;
  fsType: string;
  chapDiscovery: boolean;
  chapSession: boolean;
  /** `namespace: ''` = the pod's. Null: none is named. */
  secret: { namespace: string; name: string } | null;
}

/** What a volume of this name is to iSCSI (kubelet: createISCSIDisk); null when it is of another kind. */
export function iscsiSource({
  name,
  pv,
  volume,
}: {
  name: string;
  pv: PersistentVolume | null;
  volume: Volume;
}): IscsiSource | null {
  const source = pv === null ? volume.iscsi : pv.spec?.iscsi;
  if (source === undefined) return null;
  const { targetPortal, iqn, lun, fsType = '', initiatorName = '' } = source;
  const portals = [targetPortal, ...(source.portals ?? [])].map(withPort);
  const initIface = source.iscsiInterface || 'default';
  const ref = (source.secretRef ?? null) as { name?: string; namespace?: string } | null;
  return {
    ...{ targetPortal, portals, iqn, lun, fsType, initiatorName, initIface },
    iface: initiatorName === '' ? initIface : `${portals[0] ?? ''}:${name}`,
    chapDiscovery: source.chapAuthDiscovery ?? false,
    chapSession: source.chapAuthSession ?? false,
    secret: ref?.name ? { name: ref.name, namespace: (pv === null ? '' : ref.namespace) ?? '' } : null,
  };
}

/** Kubelet's unique name of the device without the plugin's (GetVolumeName). */
export function iscsiDeviceName({ targetPortal, iqn, lun }: IscsiSource): string {
  return deviceOfPlace({ portal: targetPortal, iqn, lun });
}

function withPort(portal: string): string {
  return portal.includes(':') ? portal : `${portal}:3260`;
}
