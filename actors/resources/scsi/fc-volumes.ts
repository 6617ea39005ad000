import { rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { deviceOfDisk, diskOfFolder, fcFolder, fcSource } from '../../../machines/scsi/fc-source.ts';
import type { FcDisk } from '../../../machines/scsi/fc-source.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ignoring } from '../../host/files/host-failure.ts';
import { mountOn } from '../../host/files/mounts.ts';
import { plainName } from '../../host/files/pod-paths.ts';
import { isThere, namesIn } from '../../host/files/what-is-there.ts';
import { cleanMountPoint } from '../volumes/clean-mount-point.ts';
import { refuseInUse } from '../volumes/mount-refs.ts';
import { VolumeFailure, volumeFailure } from '../volumes/volume-plugin.ts';
import type {
  MappedVolume,
  PublishCall,
  PublishedOnDisk,
  StageCall,
  StagedOnDisk,
  UnpublishCall,
  UnstageCall,
  VolumePlugin,
  VolumeSpec,
} from '../volumes/volume-plugin.ts';
import {
  bindDisk,
  mappedIn,
  mountDisk,
  notAttached,
  notBegun,
  pluginFolders,
  refuseMapped,
  saying,
} from './disk-volume.ts';
import { DiskUse } from './disk-use.ts';
import { findDisk, letGo, searchDisk } from './fc-disks.ts';
import { publishedDisk, stagedDisks } from './found-disks.ts';
import type { DiskFolders } from './found-disks.ts';
import type { ScsiGround } from './scsi-ground.ts';

/** Kubelet's name of the plugin. */
export const FC_PLUGIN = 'kubernetes.io/fc';

/** How often kubelet tries to let go of a disk that was in use just now: for two minutes. */
const LET_GO_TRIES = 13;

/**
 * Disks of Fibre Channel networks (kubelet: pkg/volume/fc): the machine's cards are signed in to the network, so a disk is looked for, and forgotten by the kernel
 * when no pod has it any more. As with kubelet nothing tells how much of one is used.
 */
export class FcVolumes implements VolumePlugin {
  readonly name = FC_PLUGIN;
  private readonly ground: ScsiGround;
  private readonly folders: { mounts: string; maps: string };
  private readonly use: DiskUse<{ device: string }>;
  private readonly found: DiskFolders;
  /** Folder -> the device that was mounted there, and that the kernel still knows. */
  private readonly unmounted = new Map<string, string>();

  constructor(ground: ScsiGround) {
    this.ground = ground;
    this.folders = pluginFolders(ground.rootDir, FC_PLUGIN);
    this.use = new DiskUse(this.folders.maps);
    this.found = {
      mounts: this.folders.mounts,
      attachable: ground.attachable,
      onDisk: (mode) => this.onDisk(mode),
      deviceOf: (folder) => {
        const disk = diskOfFolder(basename(folder));
        return disk && deviceOfDisk(disk);
      },
    };
  }

  serves(spec: VolumeSpec): boolean {
    return fcSource(spec) !== null;
  }

  /** '' where the volume names no disk: it fails when it is to be put into a pod. */
  async deviceName(spec: VolumeSpec): Promise<string> {
    const { disk = null, deviceName = '' } = fcSource(spec) ?? {};
    if (disk !== null) this.use.named(this.folderOf(disk, spec.mode), deviceName);
    return deviceName;
  }

  attachable(): Promise<boolean> {
    return Promise.resolve(this.ground.attachable);
  }

  stages(): Promise<boolean> {
    return Promise.resolve(true);
  }

  /** Answers the folder where it is mounted, or, for a block volume, where pods have it. */
  async stage({ spec, seLinuxLabel }: StageCall): Promise<string> {
    const { disk, fsType } = sourceOf(spec);
    const folder = this.folderOf(disk, spec.mode);
    const device = await searchDisk(this.ground.machine, disk);
    if (device === '' || !(await isThere(device))) {
      const text = device === '' ? 'no fc disk found' : `device ${device} does not exist`;
      throw new VolumeFailure('Fc', text, { what: notAttached(spec.mode) });
    }
    this.use.attached(folder, { device });
    this.unmounted.delete(folder);
    if (spec.mode === 'Block') return folder;
    try {
      await mountDisk(device, folder, { fsType, spec, seLinuxLabel });
    } catch (error) {
      await cleanMountPoint(folder);
      throw error;
    }
    return folder;
  }

  async publish(call: PublishCall): Promise<string> {
    const { spec } = call;
    const folder = this.folderOf(sourceOf(spec).disk, spec.mode);
    return spec.mode === 'Block' ? this.use.deviceAt(folder) : bindDisk(folder, call, this.ground.log);
  }

  unpublish({ path, mode }: UnpublishCall): Promise<void> {
    return mode === 'Block' ? Promise.resolve() : cleanMountPoint(path);
  }

  async globalMapPath({ spec, from }: MappedVolume): Promise<string> {
    if (spec === undefined) return from === undefined ? '' : mappedIn(await this.onDisk('Block'), from);
    const disk = fcSource(spec)?.disk ?? null;
    return disk === null ? '' : this.folderOf(disk, 'Block');
  }

  async unstage({ deviceName, mode, stagedPath, signal }: UnstageCall): Promise<void> {
    const folder = stagedPath === '' ? this.use.folderOf(deviceName, mode) : stagedPath;
    if (folder === '' || !this.use.isNamed(folder, deviceName)) return;
    await (mode === 'Block' ? this.unmap(folder) : this.unmount(folder, signal));
    this.use.left(folder);
  }

  relabels(): Promise<boolean> {
    return Promise.resolve(true);
  }

  mountsWithContext(): Promise<boolean> {
    return Promise.resolve(true);
  }

  publishedOnDisk(call: Omit<UnpublishCall, 'signal'>): Promise<PublishedOnDisk | null> {
    return publishedDisk(this.found, call);
  }

  stagedOnDisk(): Promise<readonly StagedOnDisk[]> {
    return stagedDisks(this.found);
  }

  /** A file system (kubelet: UnmountDevice). A multipath device is often still in use for a moment after its mount. */
  private async unmount(folder: string, signal: AbortSignal): Promise<void> {
    const mounted = (await mountOn(folder))?.source;
    if (mounted !== undefined) {
      await refuseInUse(folder);
      this.unmounted.set(folder, mounted);
    }
    await saying('Fc', `fc: failed to unmount: ${folder}`, () => cleanMountPoint(folder));
    const device = this.unmounted.get(folder);
    if (device === undefined) return;
    const { machine, log } = this.ground;
    for (let tries = 1; ; tries += 1) {
      try {
        await letGo(machine, device, log);
        break;
      } catch (error) {
        if (tries < LET_GO_TRIES) await sleep(machine.letGoMs, undefined, { signal });
        else throw volumeFailure(error, 'Fc', { text: `fc: failed to detach disk: ${device}: ${messageOf(error)}` });
      }
    }
    this.unmounted.delete(folder);
  }

  /** A block volume (kubelet: TearDownDevice). The disk is found by what the folder is called; kubelet does not find one with several world wide names. */
  private async unmap(folder: string): Promise<void> {
    const { machine, log } = this.ground;
    if (!(await isThere(folder))) return;
    await refuseMapped(folder, []);
    await saying('Fc', `fc: failed to detach disk: ${folder}`, async () => {
      const disk = diskOfFolder(basename(folder));
      const { device, multipath } = disk ? await findDisk(machine, disk) : { device: '', multipath: '' };
      if (device !== '') await letGo(machine, multipath || device, log);
      await ignoring(rmdir(folder), 'ENOENT');
    });
  }

  private async onDisk(mode: VolumeSpec['mode']): Promise<string[]> {
    const root = mode === 'Block' ? this.folders.maps : this.folders.mounts;
    const names = (await namesIn(root)).filter((name) => name !== 'volumeDevices');
    return names.map((name) => join(root, name));
  }

  /** Where kubelet has it. Rejects a name that leads elsewhere. */
  private folderOf(disk: FcDisk, mode: VolumeSpec['mode']): string {
    const folder = plainName(fcFolder(disk), 'the name of the disk');
    return join(mode === 'Block' ? this.folders.maps : this.folders.mounts, folder);
  }
}

function sourceOf(spec: VolumeSpec): { disk: FcDisk; fsType: string } {
  const { disk = null, fsType = '' } = fcSource(spec) ?? {};
  if (disk !== null) return { disk, fsType };
  const text = `fc: no fc disk information found. failed to make a new ${spec.mode === 'Block' ? 'mapper' : 'mounter'}`;
  throw new VolumeFailure('Fc', text, { what: notBegun(spec.mode) });
}
