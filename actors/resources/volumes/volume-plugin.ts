import type { Pod, Volume } from '../../../machines/protocol/api-types.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../machines/protocol/storage-types.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { codeOf } from '../../host/files/host-failure.ts';
import type { OwnershipWatch } from '../../host/volumes/ownership-watch.ts';
import type { DriverUsage } from '../stats/volume-usage.ts';

/** A volume as plugins know it (kubelet: `volume.Spec`): a PV with the claim that led to it, or what a pod names inline. */
export interface VolumeSpec {
  /** The PV's name, or the volume's name in the pod. Folders of the volume below the pod's are named so (`~` in place of `/`). */
  readonly name: string;
  /** Null for an inline volume. */
  readonly pv: PersistentVolume | null;
  /** The claim that is bound to {@link pv}; null for an inline volume. */
  readonly claim: PersistentVolumeClaim | null;
  /** The pod's own volume (`spec.volumes[]`): the source of an inline one. */
  readonly volume: Volume;
  /** `persistentVolumeClaim.readOnly` of the pod, or the inline source's `readOnly`. */
  readonly readOnly: boolean;
  /** `spec.volumeMode` of the PV; inline volumes are file systems. */
  readonly mode: 'Filesystem' | 'Block';
  /** It was of a cloud's own kind, which a CSI driver has taken over; {@link pv} is what it is to that driver. */
  readonly migrated?: true;
}

/** One call of a plugin: given up by `signal` when nobody wants its outcome any more. */
export interface PluginCall {
  readonly signal: AbortSignal;
}

/** For {@link VolumePlugin.stage}: a volume that is made ready once for all pods of the node (kubelet: MountDevice, SetUpDevice). */
export interface StageCall extends PluginCall {
  readonly spec: VolumeSpec;
  /** Of a pod that wants it: CSI's secrets and fsGroup may follow from it. */
  readonly pod: Pod;
  /** What {@link VolumePlugin.waitForAttach} said, '' without. */
  readonly devicePath: string;
  /** `securityContext.fsGroup` of that pod. */
  readonly fsGroup?: number | undefined;
  /** With which its file system is mounted as a whole, of a plugin that {@link VolumePlugin.mountsWithContext}; '' or absent: none. */
  readonly seLinuxLabel?: string;
}

/** For {@link VolumePlugin.publish} (kubelet: SetUp, SetUpDevice + MapPodDevice). */
export interface PublishCall extends PluginCall {
  readonly spec: VolumeSpec;
  readonly pod: Pod;
  /** The path that containers are to get, in kubelet's layout: `pods/UID/volumes/PLUGIN/NAME`, or for block volumes `pods/UID/volumeDevices/PLUGIN/NAME`. */
  readonly path: string;
  readonly devicePath: string;
  /** What {@link VolumePlugin.stage} said, '' without. */
  readonly stagedPath: string;
  readonly fsGroup?: number | undefined;
  readonly fsGroupChangePolicy?: string | undefined;
  /** As in {@link StageCall.seLinuxLabel}. */
  readonly seLinuxLabel?: string;
  /** Who hears of it when what is in it is given to the group. */
  readonly ownership: OwnershipWatch;
  /** It is published already, and only brought up to date (a token of CSI, `requiresRepublish`). */
  readonly again: boolean;
}

/**
 * For {@link VolumePlugin.unpublish} (kubelet: TearDown, UnmapPodDevice). After a restart of the agent nothing but the folder is known:
 * `deviceName` is '' then, and a plugin reads the rest from what lies there (`vol_data.json`) and from the mount table. Must do no harm when it
 * was not published, or was unpublished already.
 */
export interface UnpublishCall extends PluginCall {
  readonly podUid: string;
  /** {@link VolumeSpec.name}. */
  readonly name: string;
  readonly mode: 'Filesystem' | 'Block';
  readonly path: string;
}

/** For {@link VolumePlugin.globalMapPath}: all that is known of a block volume. A kind whose folder is not called by the volume's name finds it by the pod's. */
export interface MappedVolume {
  /** {@link VolumeSpec.name}. */
  readonly name: string;
  /** Where it is put into a pod. */
  readonly spec?: VolumeSpec;
  /** Where it is taken from a pod: the pod, and the link in its folder. */
  readonly from?: { readonly podUid: string; readonly path: string };
}

/** For {@link VolumePlugin.unstage} (kubelet: UnmountDevice, TearDownDevice); no pod has it published any more. Must do no harm when it is not staged. */
export interface UnstageCall extends PluginCall {
  readonly deviceName: string;
  /** {@link VolumeSpec.name}, or '' when only {@link VolumePlugin.stagedOnDisk} told of it. */
  readonly name: string;
  readonly mode: 'Filesystem' | 'Block';
  /** What `stage` or `stagedOnDisk` said, '' when that is not known. */
  readonly stagedPath: string;
}

/** For {@link VolumePlugin.expand} (kubelet: NodeExpand); sizes in bytes. */
export interface ExpandCall extends PluginCall {
  readonly spec: VolumeSpec;
  readonly stagedPath: string;
  /** Where a pod has it published, '' when none has. */
  readonly publishedPath: string;
  readonly devicePath: string;
  readonly oldBytes: number;
  readonly newBytes: number;
}

/** A device that is staged on this node, as files and mounts tell after a restart of the agent. */
export interface StagedOnDisk {
  /** Its attachment is told in `volumesInUse`; when absent: no. */
  readonly attachable?: boolean;
  readonly deviceName: string;
  /** {@link VolumeSpec.name}, '' when not known. */
  readonly name: string;
  readonly mode: 'Filesystem' | 'Block';
  readonly stagedPath: string;
  /** SELinux label with which it is mounted as a whole; when absent: none. */
  readonly label?: string;
}

/** A volume of a pod, as its folder tells after a restart of the agent. */
export interface PublishedOnDisk {
  /** {@link VolumeSpec.name}, where the folder's name is not all of it. */
  readonly name?: string | undefined;
  /** '' when it belongs to no device that is staged or attached. */
  readonly deviceName: string;
  /** It belongs to a device whose attachment is told in `volumesInUse`. */
  readonly attachable: boolean;
}

/** How much of a volume is used, in bytes and inodes; null: not known. */
export type VolumeUsage = DriverUsage;

/**
 * What went wrong, in kubelet's words (what stands behind `MountVolume.SetUp failed for volume "x" : `). `done: false` when the call may have
 * worked or may be under way (kubelet: uncertain progress): the volume then counts as one that is to be taken down.
 */
export class VolumeFailure extends Error {
  readonly code: string;
  readonly done: boolean;
  /** What failed in kubelet's words where that is not the whole call, e.g. `MountVolume.NewMounter initialization failed`. */
  readonly what: string | null;

  constructor(code: string, message: string, options: { done?: boolean; cause?: unknown; what?: string } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.done = options.done ?? true;
    this.what = options.what ?? null;
  }
}

/** What was thrown as a {@link VolumeFailure}: with the code that it has (an errno, say), or `code`; in its own words unless others are given. */
export function volumeFailure(
  error: unknown,
  code: string,
  { text = messageOf(error), ...more }: { text?: string; done?: boolean; what?: string } = {},
): VolumeFailure {
  return new VolumeFailure(codeOf(error) || code, text, { ...more, cause: error });
}

/**
 * One kind of volume that the main thread sets up (kubelet: `volume.VolumePlugin`). All calls may be repeated with the same parameters, and for
 * different volumes at the same time; the volume manager makes one at a time for each volume of a pod, and one for each device. It logs nothing
 * of its calls' outcomes, counts no operations and makes no events of failures: its caller does. Failures are a {@link VolumeFailure}; anything
 * else that is thrown counts as `done`.
 */
export interface VolumePlugin {
  /** As kubelet names it, e.g. `kubernetes.io/csi`; folders have `~` in place of `/`. */
  readonly name: string;
  /** It takes `mountOptions` of a PV (kubelet: SupportsMountOption). When absent: yes. */
  readonly mountOptions?: boolean;
  /** Is this volume one of its kind? Asked plugin by plugin; the first that says yes has it. */
  serves(spec: VolumeSpec): boolean;
  /**
   * Kubelet's unique name of the volume on its node without the plugin's own in front (`GetVolumeName`), e.g. `DRIVER^HANDLE`. Two pods with the
   * same one share device and attachment. May reject, e.g. because a driver is not known: tried again.
   */
  deviceName(spec: VolumeSpec, pod: Pod): Promise<string>;
  /** Must somebody attach it first (`volumesInUse`, `volumesAttached`)? A driver that is not known: true, as kubelet. */
  attachable(spec: VolumeSpec): Promise<boolean>;
  /**
   * For an attachable volume that the node's status names in `volumesAttached` with this device path: waits until the attachment is there.
   * Answers the device path to go on with. Kubelet gives up after ten minutes.
   */
  waitForAttach?(call: PluginCall & { readonly spec: VolumeSpec; readonly devicePath: string }): Promise<string>;
  /**
   * It was not attached in time: is that for want of room on this node (kubelet: VerifyExhaustedResource)? Then the node says anew how much room it has,
   * and the pod is rejected. When absent: no.
   */
  foundNoRoom?(spec: VolumeSpec): Promise<boolean>;
  /** Has it a step that is made once for all pods? When absent: no. Such a volume's device is unstaged when the last pod has gone. */
  stages?(spec: VolumeSpec): Promise<boolean>;
  /** Answers where it is staged: kubelet's global mount path. */
  stage?(call: StageCall): Promise<string>;
  /**
   * Answers the path that containers get. For a block volume: the device (or a link to it); the volume manager then makes kubelet's links and mounts
   * of it (`MapBlockVolume`) at {@link globalMapPath} and below the pod's folder, and takes them away before `unpublish`.
   */
  publish(call: PublishCall): Promise<string>;
  unpublish(call: UnpublishCall): Promise<void>;
  /** Of a kind with block volumes: where each pod's device is bind mounted under the pod's UID (kubelet: GetGlobalMapPath); '' when that is not known. */
  globalMapPath?(of: MappedVolume): string | Promise<string>;
  unstage?(call: UnstageCall): Promise<void>;
  /** Can it be grown, and does the node have a part in it? Answers its size in bytes afterwards. */
  expand?(call: ExpandCall): Promise<number>;
  /** Is {@link expand} for this volume, too (kubelet: RequiresFSResize)? When absent: yes. */
  grows?(spec: VolumeSpec): Promise<boolean>;
  /** Can it mount with one SELinux label for all files, `-o context=` (kubelet: SupportsSELinuxContextMount)? When absent: no. */
  mountsWithContext?(spec: VolumeSpec): Promise<boolean>;
  /** Must it be published again from time to time (CSI `requiresRepublish`)? When absent: no. */
  republishes?(spec: VolumeSpec): Promise<boolean>;
  /** Which device a volume in a pod's folder belongs to; null when that is not known any more. */
  publishedOnDisk?(call: Omit<UnpublishCall, 'signal'>): Promise<PublishedOnDisk | null>;
  /** All that is staged on this node, told by files and mounts. */
  stagedOnDisk?(): Promise<readonly StagedOnDisk[]>;
  /**
   * Has the runtime to give it the pod's SELinux label (kubelet: SELinuxRelabel)? Asked of one that can be written to, where SELinux is on. When absent:
   * no. `path`: what `publish` answered.
   */
  relabels?(spec: VolumeSpec, path: string): Promise<boolean>;
  /** Null where it cannot tell. `path`: what `publish` answered; of a block volume where the pod's device is bound, below {@link globalMapPath}. */
  usage?(call: PluginCall & { readonly spec: VolumeSpec; readonly path: string }): Promise<VolumeUsage | null>;
  /** Who counts that, for metrics, where it is neither the file system nor the device. */
  countedBy?(spec: VolumeSpec): string;
}

/**
 * Plugins that come and go while the agent runs, as their programs do (kubelet: a dynamic plugin prober). Each has a name of its own, by which its
 * volumes' folders are called.
 */
export interface PluginFamily {
  /** Is this volume for one of them? Asked as a plugin is. */
  serves(spec: VolumeSpec): boolean;
  /** The one that serves the volume; null: there is none (now). */
  pluginFor(spec: VolumeSpec): Promise<VolumePlugin | null>;
  /** All that are there now; looks no further than for their files. */
  all(): Promise<readonly VolumePlugin[]>;
}

/** What kinds of volumes a node sets up. */
export type VolumeKind = VolumePlugin | PluginFamily;
