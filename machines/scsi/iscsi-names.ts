/** What an iSCSI volume's folder is named by. */
export interface IscsiPlace {
  /** With its port. */
  portal: string;
  iqn: string;
  lun: number;
}

/** What names of targets begin with (RFC 3720, RFC 3980). */
const NAMINGS = ['iqn.', 'eui.', 'naa.'];

/** Kubelet's folder of a volume, below that of its interface: `PORTAL-IQN-lun-N`. */
export function iscsiFolder({ portal, iqn, lun }: IscsiPlace): string {
  return `${targetFolders(portal, iqn)}${lun}`;
}

/** What the folders of all volumes of one target begin with. */
export function targetFolders(portal: string, iqn: string): string {
  return `${portal}-${iqn}-lun-`;
}

/** Reads {@link iscsiFolder} back; null when it is no such name. Kubelet takes a portal whose name has a dash for a shorter one. */
export function placeOfFolder(folder: string): IscsiPlace | null {
  const end = folder.lastIndexOf('-lun-');
  const begins = NAMINGS.map((naming) => folder.indexOf(`-${naming}`)).filter((at) => at > 0);
  const at = Math.min(...begins);
  const lun = Number(folder.slice(end + '-lun-'.length));
  if (end < 0 || begins.length === 0 || at >= end || !isLun(lun)) return null;
  return { portal: folder.slice(0, at), iqn: folder.slice(at + 1, end), lun };
}

/** Kubelet's name of the device, as far as its folder tells: a port that the volume does not name stands there all the same. */
export function deviceOfPlace({ portal, iqn, lun }: IscsiPlace): string {
  return `${portal}:${iqn}:${lun}`;
}

/** udev's link to the device, in `/dev/disk/by-path`; with `tcp` the whole name, else what it ends with behind `pci-...`. */
export function linkName(transport: string, { portal, iqn, lun }: IscsiPlace): string {
  const address = portal.startsWith('[') ? portal.replaceAll('[', '').replaceAll(']', '') : portal;
  return `${transport === 'tcp' ? '' : '-'}ip-${address}-iscsi-${iqn}-lun-${lun}`;
}

/** Is this the link to a device that a card with an iSCSI stack of its own has? */
export function isCardLink(link: string, ending: string): boolean {
  return link.startsWith('pci-') && link.endsWith(ending) && link.length >= 'pci-'.length + ending.length;
}

function isLun(lun: number): boolean {
  return Number.isInteger(lun) && lun >= 0;
}
