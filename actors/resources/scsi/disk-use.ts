import { VolumeFailure } from '../volumes/volume-plugin.ts';
import type { VolumeSpec } from '../volumes/volume-plugin.ts';

/** Which disks this agent has attached, by kubelet's folders of them, and how these are called. */
export class DiskUse<T extends { readonly device: string }> {
  protected readonly used = new Map<string, T>();
  private readonly maps: string;
  /** Folder -> the device's name as the last volume that asked for it spells it. */
  private readonly names = new Map<string, string>();

  /** @param maps folder of all block volumes of the plugin */
  constructor(maps: string) {
    this.maps = maps;
  }

  named(folder: string, deviceName: string): void {
    this.names.set(folder, deviceName);
  }

  /**
   * Is this the name by which the folder's volume goes? A folder does not tell all of it (whether a portal's port is named, where an identifier has spaces),
   * so what an earlier agent has left may be found by another name; when a pod wants it, it is that volume's from then on.
   */
  isNamed(folder: string, deviceName: string): boolean {
    return (this.names.get(folder) ?? deviceName) === deviceName;
  }

  /** '' when nobody has asked for such a device. */
  folderOf(deviceName: string, mode: VolumeSpec['mode']): string {
    const isBlock = (folder: string): boolean => folder.startsWith(`${this.maps}/`);
    for (const [folder, name] of this.names)
      if (name === deviceName && isBlock(folder) === (mode === 'Block')) return folder;
    return '';
  }

  attached(folder: string, use: T): void {
    this.used.set(folder, use);
  }

  /** Rejects in kubelet's words where nothing is attached. */
  deviceAt(folder: string): string {
    const { device } = this.used.get(folder) ?? {};
    if (device === undefined)
      throw new VolumeFailure('Disk', 'device path of the volume is empty', { what: 'MapVolume failed' });
    return device;
  }

  left(folder: string): void {
    this.used.delete(folder);
    this.names.delete(folder);
  }
}
