import { basename, join } from 'node:path';
import { targetFolders } from '../../../machines/scsi/iscsi-names.ts';
import { namesIn } from '../../host/files/what-is-there.ts';
import type { VolumeSpec } from '../volumes/volume-plugin.ts';
import { DiskUse } from './disk-use.ts';
import type { AttachedDisk } from './iscsi-detach.ts';

/** Which iSCSI volumes are on this node: told by kubelet's folders, and by what this agent has done. */
export class IscsiUse extends DiskUse<{ device: string; iqn: string; portals: readonly string[] }> {
  private readonly folders: { mounts: string; maps: string };

  constructor(folders: { mounts: string; maps: string }) {
    super(folders.maps);
    this.folders = folders;
  }

  /** Folders of all volumes of a mode. */
  async onDisk(mode: VolumeSpec['mode']): Promise<string[]> {
    const root = mode === 'Block' ? this.folders.maps : this.folders.mounts;
    const found: string[] = [];
    for (const iface of await namesIn(root))
      if (iface.startsWith('iface-'))
        for (const name of await namesIn(join(root, iface))) found.push(join(root, iface, name));
    return found;
  }

  /**
   * The portals of a volume by which no other volume of its target is used, whatever its interface (kubelet: isSessionBusy); none while the first of them is:
   * kubelet's folders are called by the first one alone.
   */
  async unused(folder: string, { portals, iqn }: AttachedDisk): Promise<string[]> {
    const all = [...(await this.onDisk('Filesystem')), ...(await this.onDisk('Block'))];
    const isUsed = (portal: string): boolean =>
      all.some((each) => each !== folder && basename(each).startsWith(targetFolders(portal, iqn))) ||
      [...this.used].some(([at, its]) => at !== folder && its.iqn === iqn && its.portals.includes(portal));
    return portals.length > 0 && isUsed(portals[0] ?? '') ? [] : portals.filter((portal) => !isUsed(portal));
  }
}
