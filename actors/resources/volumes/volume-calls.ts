import { dirname } from 'node:path';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { matchesTerms } from '../../../machines/admission/node-affinity.ts';
import { podObject } from '../../../machines/protocol/recorded-event.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { KnownVolume } from '../../../machines/volume-manager/mount-context.ts';
import type { VolumeOrder } from '../../../machines/volume-manager/volume-orders.ts';
import { NOT_ATTACHED, NOT_GROWN } from '../../../machines/volume-manager/volume-waits.ts';
import { isForOnePod } from '../../../machines/volumes/one-pod-volume.ts';
import { mountOptionsOf } from '../../../machines/volumes/pv-annotations.ts';
import { codeOf } from '../../host/files/host-failure.ts';
import { isFileSystemMismatch } from '../../host/volumes/disk-commands.ts';
import type { OwnershipWatch } from '../../host/volumes/ownership-watch.ts';
import type { LabelRules } from '../../../machines/volumes/selinux-label.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import {
  mapBlockVolume,
  mappedWords,
  nameBlockVolume,
  removeMapFolder,
  unmapBlockVolume,
  unnameBlockVolume,
} from './block-map.ts';
import type { AttachedVolumes } from './attached-volumes.ts';
import { countedPlugin } from './counted-plugin.ts';
import { ClaimGrower } from './grow-claim.ts';
import type { GrowthOptions, GrowthPlace } from './grow-claim.ts';
import type { LookedUp } from './looked-up.ts';
import { pluginFor, pluginNamed } from './plugins-now.ts';
import { UNPROCESSED, volumeSpecOf } from './resolve-volume.ts';
import { removeEmpty, volumeFolder } from './volume-folders.ts';
import { VolumeFailure } from './volume-plugin.ts';
import type { VolumeKind, VolumePlugin, VolumeSpec } from './volume-plugin.ts';
import { volumeLabel } from './volume-label.ts';
import type { LabelMetric } from './volume-label.ts';
import { sizesOf } from './volume-sizes.ts';

/** What calls of plugins need of the node. */
export interface VolumeCallsOptions extends GrowthOptions {
  rootDir: string;
  nodeName: string;
  plugins: readonly VolumeKind[];
  attached: AttachedVolumes;
  /** Of the node's object; null while it is not known. */
  nodeLabels: () => Readonly<Record<string, string>> | null;
  podOf: (uid: string) => Pod | undefined;
  metrics: Pick<Metrics, 'storageOperation' | LabelMetric>;
  /** How volumes are mounted with SELinux labels; when absent: they are not. */
  labelRules?: LabelRules | undefined;
}

type Of<T extends VolumeOrder['type']> = Extract<VolumeOrder, { type: T }>;

/** Carries out what the volume manager orders, by plugins. Failures are {@link VolumeFailure}s whose text is kubelet's whole one. */
export class VolumeCalls {
  private readonly options: VolumeCallsOptions;
  private readonly growth: ClaimGrower;
  private readonly lookedUp = new Map<string, LookedUp>();

  constructor(options: VolumeCallsOptions) {
    this.options = options;
    this.growth = new ClaimGrower(options);
  }

  /** What was looked up of a pod's volume; undefined when nothing was. */
  of(uid: string, volume: string): LookedUp | undefined {
    return this.lookedUp.get(`${uid}/${volume}`);
  }

  /** Forgets what was looked up of volumes that are no more. */
  keep(ids: Readonly<Record<string, unknown>>): void {
    for (const id of this.lookedUp.keys()) if (!Object.hasOwn(ids, id)) this.lookedUp.delete(id);
    this.growth.keep(new Set([...this.lookedUp.values()].map(({ device }) => device)));
  }

  async resolve({ uid, volume }: Pick<Of<'volume.resolve'>, 'uid' | 'volume'>): Promise<KnownVolume> {
    const pod = this.options.podOf(uid);
    const its = pod?.spec?.volumes?.find(({ name }) => name === volume);
    if (pod === undefined || its === undefined)
      throw new VolumeFailure(UNPROCESSED, `the pod has no volume ${volume} any more`);
    const spec = await volumeSpecOf(pod, its, this.options.objects());
    const plugin = await pluginFor(this.options.plugins, spec);
    if (plugin === null)
      throw new VolumeFailure(
        UNPROCESSED,
        `failed to get Plugin from volumeSpec for volume "${spec.name}" err=no volume plugin matched`,
      );
    const [attachable, stages] = await Promise.all([plugin.attachable(spec), plugin.stages?.(spec) ?? false]);
    let device = '';
    if (attachable || stages)
      device = await plugin.deviceName(spec, pod).catch((error: unknown) => {
        const text = `failed to GetUniqueVolumeNameFromSpec for volumeSpec "${spec.name}" using volume plugin "${plugin.name}" err=${messageOf(error)}`;
        throw new VolumeFailure(UNPROCESSED, text, { cause: error });
      });
    if (device !== '') device = `${plugin.name}/${device}`;
    const seLinux = await volumeLabel(this.options, { pod, volume, spec, plugin });
    this.lookedUp.set(`${uid}/${volume}`, { pod, spec, plugin, device, seLinuxLabel: seLinux?.mount ?? '' });
    const alone = isForOnePod(spec.pv);
    return {
      ...{ plugin: plugin.name, name: spec.name, mode: spec.mode, device, attachable, stages },
      ...(spec.mode === 'Block' && { mapped: true as const }),
      ...(stages && { stagesAnew: true as const }),
      ...(seLinux !== null && { seLinux }),
      alone,
      ...(alone && { aloneAtEachTry: true as const }),
      ...sizesOf(spec, plugin),
    };
  }

  /**
   * Answers its device path; null when its driver says meanwhile that nobody has to attach it (kubelet: MarkVolumeAttachability).
   * @param call `seen`: the node's object names it as attached, or it need not.
   */
  async attach(
    { uid, volume, device }: Of<'device.attach'>,
    { signal, seen }: { signal: AbortSignal; seen: () => void },
  ): Promise<string | null> {
    const { spec, plugin } = this.found(uid, volume);
    let devicePath: string;
    try {
      devicePath = await this.options.attached.waitFor(device, spec.name, signal);
    } catch (error) {
      // Who cannot be asked has not changed its mind.
      if (codeOf(error) !== NOT_ATTACHED || (await plugin.attachable(spec).catch(() => true))) throw error;
      seen();
      return null;
    }
    seen();
    try {
      this.checkNode(spec);
      return (await plugin.waitForAttach?.({ spec, devicePath, signal })) ?? devicePath;
    } catch (error) {
      throw worded(error, `${verb(spec)}.WaitForAttach failed`, spec.name);
    }
  }

  /** It was not attached in time: has the node no room for it? What cannot be asked is none. */
  async foundNoRoom({ uid, volume }: { uid: string; volume: string }): Promise<boolean> {
    const its = this.of(uid, volume);
    return (await its?.plugin.foundNoRoom?.(its.spec).catch(() => false)) ?? false;
  }

  async stage({ uid, volume, devicePath }: Of<'device.stage'>, signal: AbortSignal): Promise<string> {
    const { pod, spec, plugin, seLinuxLabel } = this.found(uid, volume);
    this.checkNode(spec);
    this.checkOptions(spec, plugin);
    try {
      const fsGroup = pod.spec?.securityContext?.fsGroup;
      return (await plugin.stage?.({ spec, pod, devicePath, fsGroup, seLinuxLabel, signal })) ?? '';
    } catch (error) {
      this.tellMismatch(spec, error);
      throw worded(
        error,
        spec.mode === 'Block' ? 'MapVolume.SetUpDevice failed' : 'MountVolume.MountDevice failed',
        spec.name,
      );
    }
  }

  async publish({ uid, volume, ...order }: Of<'volume.publish'>, signal: AbortSignal): Promise<string> {
    const found = this.found(uid, volume);
    const { pod, spec, plugin, seLinuxLabel } = found;
    this.checkNode(spec);
    this.checkOptions(spec, plugin);
    const { rootDir } = this.options;
    const path = volumeFolder(rootDir, uid, plugin.name, spec.name, spec.mode);
    const { fsGroup, fsGroupChangePolicy } = pod.spec?.securityContext ?? {};
    const { devicePath, stagedPath, again } = order;
    const globalPath = spec.mode === 'Block' ? ((await plugin.globalMapPath?.({ name: spec.name, spec })) ?? '') : '';
    const map = { podUid: uid, globalPath, linkPath: path };
    let isNamed = false;
    let published: string;
    try {
      if (globalPath !== '') isNamed = await nameBlockVolume(map);
      published = await plugin.publish({
        ...{ spec, pod, path, devicePath, stagedPath, again, fsGroup, fsGroupChangePolicy, seLinuxLabel, signal },
        ownership: this.ownership(pod, spec, plugin),
      });
    } catch (error) {
      const what = spec.mode === 'Block' ? 'MapVolume.MapPodDevice failed' : 'MountVolume.SetUp failed';
      this.tellMismatch(spec, error);
      const failure = worded(error, what, spec.name);
      if (isNamed && failure.done) await unnameBlockVolume(path);
      throw failure;
    }
    const place = { stagedPath, devicePath, signal };
    if (spec.mode !== 'Block') {
      if (!again) await this.grownAtMount(found, { ...place, publishedPath: published });
      return published;
    }
    try {
      if (published === '' || globalPath === '')
        throw new VolumeFailure('Block', 'device path of the volume is empty', { what: 'MapVolume failed' });
      await mapBlockVolume(published, map);
      for (const text of mappedWords(spec.name, map)) this.tell(pod, 'Normal', 'SuccessfulMountVolume', text);
    } catch (error) {
      throw worded(error, 'MapVolume.MapBlockVolume failed', spec.name, false);
    }
    if (!again) await this.grownAtMount(found, { ...place, publishedPath: path });
    return path;
  }

  async unpublish({ uid, plugin: pluginName, name, mode }: Of<'volume.unpublish'>, signal: AbortSignal): Promise<void> {
    const { rootDir } = this.options;
    const path = volumeFolder(rootDir, uid, pluginName, name, mode);
    try {
      const plugin = await this.plugin(pluginName);
      const from = { podUid: uid, path };
      const globalPath = mode === 'Block' ? ((await plugin.globalMapPath?.({ name, from })) ?? '') : '';
      if (globalPath !== '') await unmapBlockVolume({ podUid: uid, globalPath });
      await plugin.unpublish({ podUid: uid, name, mode, path, signal });
      if (mode === 'Block') await unnameBlockVolume(path);
      else await removeEmpty(dirname(path));
    } catch (error) {
      throw worded(
        error,
        mode === 'Block' ? 'UnmapVolume.UnmapPodDevice failed' : 'UnmountVolume.TearDown failed',
        name,
      );
    }
  }

  async unstage(
    { device, plugin: pluginName, name, mode, stagedPath }: Of<'device.unstage'>,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      const plugin = await this.plugin(pluginName);
      const deviceName = device.slice(pluginName.length + 1);
      await plugin.unstage?.({ deviceName, name, mode, stagedPath, signal });
      const globalPath = mode === 'Block' ? ((await plugin.globalMapPath?.({ name })) ?? '') : '';
      if (globalPath !== '') await removeMapFolder(globalPath);
    } catch (error) {
      throw worded(error, mode === 'Block' ? 'UnmapDevice.TearDownDevice failed' : 'UnmountDevice failed', name);
    }
  }

  /** Answers the size afterwards, bytes. What is not made larger now, though nothing has failed, is told by code {@link NOT_GROWN}. */
  async expand({ uid, volume, ...order }: Of<'device.expand'>, signal: AbortSignal): Promise<number> {
    const found = this.found(uid, volume);
    try {
      const { stagedPath, publishedPath, devicePath, oldBytes, newBytes } = order;
      return await this.growth.inUse(found, { stagedPath, publishedPath, devicePath, oldBytes, newBytes, signal });
    } catch (error) {
      if (codeOf(error) === NOT_GROWN) throw error;
      throw worded(error, 'NodeExpandVolume.NodeExpandVolume failed', found.spec.name);
    }
  }

  /** It is there, and has to be large enough before containers find it; else it is as one that may be there. */
  private async grownAtMount(found: LookedUp, place: GrowthPlace): Promise<void> {
    try {
      await this.growth.atMount(found, place);
    } catch (error) {
      const { mode, name } = found.spec;
      const what =
        mode === 'Block'
          ? 'MapVolume.MarkVolumeAsMounted failed while expanding volume'
          : 'MountVolume.Setup failed while expanding volume';
      const { code, message } = worded(error, what, name);
      throw new VolumeFailure(code, message, { done: false, cause: error });
    }
  }

  private async plugin(name: string): Promise<VolumePlugin> {
    const plugin = await pluginNamed(this.options.plugins, name);
    if (plugin === null) throw new VolumeFailure('NoPlugin', `no volume plugin matched name: ${name}`);
    return plugin;
  }

  private found(uid: string, volume: string): LookedUp {
    const found = this.of(uid, volume);
    if (found === undefined)
      throw new VolumeFailure(UNPROCESSED, `volume ${volume} of pod ${uid} is not known any more`);
    return found;
  }

  /** What becomes of files of a volume that are given to the pod's group is told to the pod, and measured. */
  private ownership(pod: Pod, spec: VolumeSpec, plugin: VolumePlugin): OwnershipWatch {
    const { metrics } = this.options;
    const labels = {
      volume_plugin: countedPlugin(plugin.name, spec),
      ...{ operation_name: 'volume_apply_access_control', migrated: 'false' },
    };
    return {
      podUid: pod.metadata?.uid ?? '',
      slow: (text) => this.tell(pod, 'Warning', 'VolumePermissionChangeInProgress', text),
      over(seconds, failed) {
        metrics.storageOperation.observe({ ...labels, status: failed ? 'fail-unknown' : 'success' }, seconds);
      },
    };
  }

  /** A disk with another file system than its PV says could not be mounted: the PV has an event of that (kubelet: checkForFailedMount). */
  private tellMismatch({ name, pv, mode }: VolumeSpec, error: unknown): void {
    if (pv === null || mode === 'Block' || !isFileSystemMismatch(error)) return;
    const { record, clock } = this.options;
    const { resourceVersion, uid = '' } = pv.metadata ?? {};
    const object = {
      ...({ apiVersion: 'v1', kind: 'PersistentVolume', namespace: '', name: pv.metadata?.name ?? name, uid } as const),
      ...(resourceVersion !== undefined && { resourceVersion }),
    };
    const message = `MountVolume failed for volume "${name}" ${messageOf(error)}`;
    record({ object, at: clock.now(), type: 'Warning', reason: 'FailedMountOnFilesystemMismatch', message });
  }

  private tell(pod: Pod, type: 'Normal' | 'Warning', reason: string, message: string): void {
    const { record, clock } = this.options;
    record({ object: podObject(pod), at: clock.now(), type, reason, message });
  }

  private checkNode(spec: VolumeSpec): void {
    const required = spec.pv?.spec?.nodeAffinity?.required;
    if (!required) return;
    const labels = this.options.nodeLabels() ?? {};
    if (matchesTerms(required.nodeSelectorTerms, this.options.nodeName, labels)) return;
    const what = `${verb(spec)}.NodeAffinity check failed`;
    throw worded(new VolumeFailure('NodeAffinity', 'no matching NodeSelectorTerms'), what, spec.name);
  }

  private checkOptions(spec: VolumeSpec, plugin: VolumePlugin): void {
    if (mountOptionsOf(spec.pv).length === 0 || plugin.mountOptions !== false || spec.mode === 'Block') return;
    const problem = new VolumeFailure('MountOptions', 'mount options are not supported for this volume type');
    throw worded(problem, 'MountVolume.MountOptionSupport check failed', spec.name);
  }
}

function verb({ mode }: VolumeSpec): string {
  return mode === 'Block' ? 'MapVolume' : 'MountVolume';
}

/** The failure with kubelet's words for the call around it. */
function worded(error: unknown, what: string, name: string, done = true): VolumeFailure {
  const its = error instanceof VolumeFailure ? error : null;
  const text = `${its?.what ?? what} for volume "${name}" : ${messageOf(error)}`;
  return new VolumeFailure(its?.code ?? (codeOf(error) || 'Volume'), text, { done: its?.done ?? done, cause: error });
}
