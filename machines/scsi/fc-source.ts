import type { Volume } from '../protocol/api-types.ts';
import type { PersistentVolume } from '../protocol/storage-types.ts';

/** A disk of a Fibre Channel network: a LUN of targets, or named by itself. */
export interface FcDisk {
  /** World wide names of targets; empty for a disk that is named by {@link wwids}. */
  wwns: string[];
  lun: number;
  /** World wide identifiers as udev writes them. */
  wwids: string[];
}

/** What a volume is to Fibre Channel; null when it is of another kind. */
export function fcSource({
  pv,
  volume,
}: {
  pv: PersistentVolume | null;
  volume: Volume;
}): { disk: FcDisk | null; deviceName: string; fsType: string } | null {
  const source = pv === null ? volume.fc : pv.spec?.fc;
  if (source === undefined) return null;
  const { targetWWNs = [], wwids = [], lun, fsType = '' } = source;
  if (targetWWNs.length > 0 && lun !== undefined && lun !== null) {
    const disk = { wwns: targetWWNs, lun, wwids: [] };
    return { disk, deviceName: deviceOfDisk(disk), fsType };
  }
  if (wwids.length === 0) return { disk: null, deviceName: '', fsType };
  const disk = { wwns: [], lun: 0, wwids: wwids.map((wwid) => wwid.replaceAll(' ', '_')) };
  return { disk, deviceName: `[${wwids.join(' ')}]`, fsType };
}

/** Kubelet's folder of a disk: `WWN-WWN-lun-N`, or its identifiers. */
export function fcFolder({ wwns, lun, wwids }: FcDisk): string {
  return wwns.length > 0 ? `${wwns.join('-')}-lun-${lun}` : wwids.join('-');
}

/** Reads {@link fcFolder} back (kubelet: parsePDName); null when it is no such name. */
export function diskOfFolder(folder: string): FcDisk | null {
  const parts = folder.split('-');
  if (parts.length === 1 || parts.at(-2) !== 'lun') return { wwns: [], lun: 0, wwids: parts };
  const lun = Number(parts.at(-1));
  if (parts.length === 2 || parts.at(-1) === '' || !Number.isInteger(lun)) return null;
  return { wwns: parts.slice(0, -2), lun, wwids: [] };
}

/** Kubelet's name of the device, as far as its folder tells. */
export function deviceOfDisk({ wwns, lun, wwids }: FcDisk): string {
  return wwns.length > 0 ? `[${wwns.join(' ')}]:${lun}` : `[${wwids.join(' ')}]`;
}

/** Is this udev's link to the LUN, in `/dev/disk/by-path`? */
export function isLunLink(link: string, wwn: string, lun: number): boolean {
  const ending = `-0x${wwn}-lun-${lun}`;
  if (!link.endsWith(ending)) return false;
  const head = link.slice(0, -ending.length);
  return head === 'fc' || (head.startsWith('pci-') && head.endsWith('-fc') && head.length >= 'pci--fc'.length);
}
