import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { makeFolder } from '../volumes/make-folder.ts';
import { ISCSI_FILE, iscsiFileText } from '../../../machines/scsi/iscsi-file.ts';
import { deviceOfPlace, iscsiFolder, placeOfFolder } from '../../../machines/scsi/iscsi-names.ts';
import { iscsiDeviceName, iscsiSource } from '../../../machines/scsi/iscsi-source.ts';
import type { IscsiSource } from '../../../machines/scsi/iscsi-source.ts';
import { mountOn, unmount } from '../../host/files/mounts.ts';
import { plainName } from '../../host/files/pod-paths.ts';
import { isThere } from '../../host/files/what-is-there.ts';
import { readStatfs } from '../../host/strange/read-statfs.ts';
import { blockUsage } from '../volumes/block-usage.ts';
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
  VolumeUsage,
} from '../volumes/volume-plugin.ts';
import { usageOf } from '../volumes/volume-usage.ts';
import { bindDisk, mappedIn, mountDisk, notAttached, pluginFolders, refuseMapped, saying } from './disk-volume.ts';
import { publishedDisk, stagedDisks } from './found-disks.ts';
import type { DiskFolders } from './found-disks.ts';
import { attachDisk } from './iscsi-attach.ts';
import { attachedDisk, deleteDisks, removeFolder, signOut } from './iscsi-detach.ts';
import type { AttachedDisk } from './iscsi-detach.ts';
import { IscsiAdm } from './iscsiadm.ts';
import { chapOf } from './iscsi-secret.ts';
import { IscsiUse } from './iscsi-use.ts';
import type { ScsiGround } from './scsi-ground.ts';
import { Turns } from './turns.ts';

/** Kubelet's name of the plugin. */
export const ISCSI_PLUGIN = 'kubernetes.io/iscsi';

/**
 * Disks of iSCSI targets (kubelet: pkg/volume/iscsi), signed in to by open-iscsi's `iscsiadm`. They are attached when they are staged, and let go of when they
 * are unstaged. Kubelet's folders and its `iscsi.json` say all of it, so a node can change hands with such volumes in use.
 */
export class IscsiVolumes implements VolumePlugin {
  readonly name = ISCSI_PLUGIN;
  private readonly ground: ScsiGround;
  private readonly folders: { mounts: string; maps: string };
  private readonly use: IscsiUse;
  private readonly found: DiskFolders;
  /** Two volumes of a target are not signed in to and out of at the same time. */
  private readonly turns = new Turns();

  constructor(ground: ScsiGround) {
    this.ground = ground;
    this.folders = pluginFolders(ground.rootDir, ISCSI_PLUGIN);
    this.use = new IscsiUse(this.folders);
    this.found = {
      mounts: this.folders.mounts,
      attachable: ground.attachable,
      onDisk: (mode) => this.use.onDisk(mode),
      deviceOf: (folder) => {
        const place = placeOfFolder(basename(folder));
        return place && deviceOfPlace(place);
      },
    };
  }

  serves(spec: VolumeSpec): boolean {
    return iscsiSource(spec) !== null;
  }

  async deviceName(spec: VolumeSpec): Promise<string> {
    const source = sourceOf(spec);
    const name = iscsiDeviceName(source);
    this.use.named(this.folderOf(source, spec.mode), name);
    return name;
  }

  attachable(): Promise<boolean> {
    return Promise.resolve(this.ground.attachable);
  }

  stages(): Promise<boolean> {
    return Promise.resolve(true);
  }

  /** Answers the folder where it is mounted, or, for a block volume, where pods have it. */
  async stage({ spec, pod, seLinuxLabel, signal }: StageCall): Promise<string> {
    const source = sourceOf(spec);
    const folder = this.folderOf(source, spec.mode);
    const chap = await chapOf(this.ground, source, pod.metadata?.namespace ?? '', spec.mode);
    const device = await this.turns.take(source.iqn, () => this.attach(spec, source, { folder, chap, signal }));
    this.use.attached(folder, { device, iqn: source.iqn, portals: source.portals });
    if (spec.mode === 'Block') return folder;
    try {
      await mountDisk(device, folder, { fsType: source.fsType, spec, seLinuxLabel });
    } catch (error) {
      // The node is signed in: that is to be undone.
      throw volumeFailure(error, 'Iscsi', { done: false });
    }
    return folder;
  }

  async publish(call: PublishCall): Promise<string> {
    const folder = this.folderOf(sourceOf(call.spec), call.spec.mode);
    return call.spec.mode === 'Block' ? this.use.deviceAt(folder) : bindDisk(folder, call, this.ground.log);
  }

  unpublish({ path, mode }: UnpublishCall): Promise<void> {
    return mode === 'Block' ? Promise.resolve() : cleanMountPoint(path);
  }

  async globalMapPath({ spec, from }: MappedVolume): Promise<string> {
    if (spec !== undefined) return this.folderOf(sourceOf(spec), 'Block');
    return from === undefined ? '' : mappedIn(await this.use.onDisk('Block'), from);
  }

  async unstage({ deviceName, mode, stagedPath, signal }: UnstageCall): Promise<void> {
    const folder = stagedPath === '' ? this.use.folderOf(deviceName, mode) : stagedPath;
    if (folder === '' || !this.use.isNamed(folder, deviceName)) return;
    if (!(await isThere(folder))) return this.use.left(folder);
    await saying('Iscsi', `iscsi: failed to detach disk: ${folder}`, async () => {
      await (mode === 'Block' ? refuseMapped(folder, [ISCSI_FILE]) : refuseInUse(folder));
      while (mode !== 'Block' && (await mountOn(folder)) !== undefined) await unmount(folder);
      const disk = await attachedDisk(folder);
      // It holds the session until its folder is gone: of two that go at the same time the second signs out.
      await this.turns.take(disk.iqn, async () => {
        await this.detach(folder, disk, signal);
        await saying('Iscsi', `iscsi: failed to delete the directory: ${folder}`, () => removeFolder(folder));
        this.use.left(folder);
      });
    });
  }

  publishedOnDisk(call: Omit<UnpublishCall, 'signal'>): Promise<PublishedOnDisk | null> {
    return publishedDisk(this.found, call);
  }

  stagedOnDisk(): Promise<readonly StagedOnDisk[]> {
    return stagedDisks(this.found);
  }

  relabels(): Promise<boolean> {
    return Promise.resolve(true);
  }

  mountsWithContext(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async usage({ spec, path }: { spec: VolumeSpec; path: string }): Promise<VolumeUsage | null> {
    return spec.mode === 'Block' ? blockUsage(path) : usageOf(await readStatfs(path));
  }

  private async attach(
    spec: VolumeSpec,
    source: IscsiSource,
    { folder, chap, signal }: { folder: string; chap: Record<string, string>; signal: AbortSignal },
  ): Promise<string> {
    const { machine, log } = this.ground;
    let begun = false;
    try {
      const adm = new IscsiAdm(machine.iscsiadm, signal);
      return await attachDisk({ machine, adm, source, chap, signal, log }, async () => {
        await makeFolder(folder);
        begun = true;
        // Of one that is mounted the file lies below the mount.
        if (spec.mode === 'Block' || (await mountOn(folder)) === undefined)
          await writeFile(join(folder, ISCSI_FILE), iscsiFileText(source, spec.name), { mode: 0o644 });
      });
    } catch (error) {
      // The node may be signed in, or have written of it: that is to be undone.
      throw volumeFailure(error, 'Iscsi', { done: !begun, what: notAttached(spec.mode) });
    }
  }

  /** The LUN goes; the session, too, by each portal by which no other LUN of the target is used. */
  private async detach(folder: string, disk: AttachedDisk, signal: AbortSignal): Promise<void> {
    const { machine, log } = this.ground;
    await deleteDisks(machine, disk, log);
    await signOut(new IscsiAdm(machine.iscsiadm, signal), disk, await this.use.unused(folder, disk));
  }

  /** Where kubelet has it. Rejects a name that leads elsewhere. */
  private folderOf(source: IscsiSource, mode: VolumeSpec['mode']): string {
    const { iface, iqn, lun, portals } = source;
    const above = plainName(`iface-${iface}`, 'the iSCSI interface');
    const folder = plainName(iscsiFolder({ portal: portals[0] ?? '', iqn, lun }), 'the iSCSI target');
    return join(mode === 'Block' ? this.folders.maps : this.folders.mounts, above, folder);
  }
}

function sourceOf(spec: VolumeSpec): IscsiSource {
  const source = iscsiSource(spec);
  if (source === null) throw new VolumeFailure('NoSource', 'Spec does not reference an ISCSI volume type');
  return source;
}
