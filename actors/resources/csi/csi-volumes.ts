import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { attachmentState, foundNoRoom } from '../../../machines/csi/attachment.ts';
import { csiSource } from '../../../machines/csi/csi-source.ts';
import type { CsiSource } from '../../../machines/csi/csi-source.ts';
import {
  allocatablePeriodMs,
  mountsWithContext,
  mustAttach,
  wantsRepublish,
} from '../../../machines/csi/driver-rules.ts';
import { usageOf } from '../../../machines/csi/volume-usage.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { readMounts } from '../../host/files/mountinfo.ts';
import { hasLabels } from '../volumes/mount-labels.ts';
import { VolumeFailure } from '../volumes/volume-plugin.ts';
import type {
  ExpandCall,
  MappedVolume,
  PluginCall,
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
import { publishBlock, stageBlock, unpublishBlock, unstageBlock } from './block-volume.ts';
import { apiOf, before, withClient } from './csi-ground.ts';
import type { CsiGround } from './csi-ground.ts';
import { attachmentName, blockPaths, CSI_PLUGIN, ephemeralHandle } from './csi-names.ts';
import { growVolume } from './grow-volume.ts';
import { publishVolume } from './publish-volume.ts';
import { stageVolume } from './stage-volume.ts';
import { stagedVolumes, unpublishVolume, unstageVolume } from './take-down.ts';
import { loadVolumeData } from './volume-files.ts';

/** How long a CSIDriver is waited for by an agent that looks at what there is, ms. */
const SOON_MS = 1_000;

/** The volumes of CSI drivers (kubelet: pkg/volume/csi), with kubelet's own folders and files, so that a node can change hands with all of them mounted. */
export class CsiVolumes implements VolumePlugin {
  readonly name = CSI_PLUGIN;
  private readonly ground: CsiGround;

  constructor(ground: CsiGround) {
    this.ground = ground;
  }

  serves({ pv, volume }: VolumeSpec): boolean {
    return pv === null ? volume.csi !== undefined : pv.spec?.csi !== undefined;
  }

  async deviceName(spec: VolumeSpec, pod: Pod): Promise<string> {
    const { mode, driver, handle } = this.source(spec, pod);
    return mode === 'Persistent' ? `${driver}^${handle}` : `${pod.metadata?.uid ?? ''}-${spec.name}`;
  }

  async attachable(spec: VolumeSpec): Promise<boolean> {
    const { mode, driver } = this.source(spec);
    return mode === 'Persistent' && mustAttach(await apiOf(this.ground).driver(driver));
  }

  /** One look: who finds it not attached looks again later, as kubelet does since 1.35, and its pod is told meanwhile. */
  async waitForAttach({ spec }: Pick<PluginCall, 'signal'> & { readonly spec: VolumeSpec }): Promise<string> {
    const { driver, handle } = this.source(spec);
    const name = attachmentName(handle, driver, this.ground.nodeName);
    const found = await before(
      apiOf(this.ground).attachment(name),
      (text) => `volume ${handle} has GET error for volume attachment ${name}: ${text}`,
    );
    const state = attachmentState(found);
    if (state.state === 'attached') return name;
    if (state.state === 'failed') throw new VolumeFailure('Attach', state.problem);
    throw new VolumeFailure('Attach', `volume ${handle} is not attached for volume attachment ${name}`);
  }

  async foundNoRoom(spec: VolumeSpec): Promise<boolean> {
    const { drivers, nodeName } = this.ground;
    const { mode, driver, handle } = this.source(spec);
    if (!drivers.refreshes || mode !== 'Persistent') return false;
    const api = apiOf(this.ground);
    if (allocatablePeriodMs(await api.driver(driver)) === 0) return false;
    if (!foundNoRoom(await api.attachment(attachmentName(handle, driver, nodeName)))) return false;
    drivers.askAgain(driver);
    return true;
  }

  async stages(spec: VolumeSpec): Promise<boolean> {
    return this.source(spec).mode === 'Persistent';
  }

  stage(call: StageCall): Promise<string> {
    const source = this.source(call.spec, call.pod);
    return call.spec.mode === 'Block' ? stageBlock(this.ground, source, call) : stageVolume(this.ground, source, call);
  }

  publish(call: PublishCall): Promise<string> {
    const source = this.source(call.spec, call.pod);
    return call.spec.mode === 'Block'
      ? publishBlock(this.ground, source, call)
      : publishVolume(this.ground, source, call);
  }

  unpublish(call: UnpublishCall): Promise<void> {
    return call.mode === 'Block' ? unpublishBlock(this.ground, call) : unpublishVolume(this.ground, call);
  }

  globalMapPath({ name }: MappedVolume): string {
    return blockPaths(this.ground.rootDir, name).dev;
  }

  unstage(call: UnstageCall): Promise<void> {
    return call.mode === 'Block' ? unstageBlock(this.ground, call) : unstageVolume(this.ground, call);
  }

  expand(call: ExpandCall): Promise<number> {
    return growVolume(this.ground, this.source(call.spec), call);
  }

  async mountsWithContext(spec: VolumeSpec): Promise<boolean> {
    return mountsWithContext(await apiOf(this.ground).driver(this.source(spec).driver));
  }

  async republishes(spec: VolumeSpec): Promise<boolean> {
    return wantsRepublish(await apiOf(this.ground).driver(this.source(spec).driver));
  }

  async publishedOnDisk({ name, mode, path }: Omit<UnpublishCall, 'signal'>): Promise<PublishedOnDisk | null> {
    const { rootDir, log } = this.ground;
    const folder = mode === 'Block' ? blockPaths(rootDir, name).data : path;
    const data = await loadVolumeData(folder).catch((error: unknown) => {
      log.error({ folder, problem: messageOf(error) }, 'CSI volume of a pod');
      return null;
    });
    if (data?.driverName === undefined || data.volumeHandle === undefined) return null;
    const { specVolID } = data;
    if (data.volumeLifecycleMode === 'Ephemeral') return { deviceName: '', attachable: false, name: specVolID };
    const attachable = await this.attaches(data.driverName);
    return { deviceName: `${data.driverName}^${data.volumeHandle}`, attachable, name: specVolID };
  }

  async stagedOnDisk(): Promise<readonly StagedOnDisk[]> {
    const staged = await stagedVolumes(this.ground);
    return Promise.all(
      staged.map(async (each) => {
        const driver = each.deviceName.slice(0, each.deviceName.indexOf('^'));
        return { ...each, attachable: await this.attaches(driver) };
      }),
    );
  }

  async usage(call: PluginCall & { readonly spec: VolumeSpec; readonly path: string }): Promise<VolumeUsage | null> {
    const { driver, handle: known } = this.source(call.spec);
    // The handle of an inline volume follows from its pod: it stands beside what was published.
    const handle = known === '' ? ((await loadVolumeData(dirname(call.path)))?.volumeHandle ?? '') : known;
    return withClient(
      this.ground,
      { driver },
      call.signal,
      (text) => text,
      async (client) => {
        if (!(await client.can('GET_VOLUME_STATS'))) return null;
        const { usage, volumeCondition } = await client.stats(handle, call.path);
        const health = this.ground.volumeHealth && (await client.can('VOLUME_CONDITION'));
        if (!health && usage.length === 0)
          throw new VolumeFailure('Usage', 'failed to get usage from response. usage is nil');
        const { abnormal = false, message = '' } = volumeCondition ?? {};
        return { ...usageOf(usage), ...(health && { health: { abnormal, message } }) };
      },
    );
  }

  /** A driver may mount what has no labels (NFS), or has one for all of it. */
  async relabels(_spec: VolumeSpec, path: string): Promise<boolean> {
    return hasLabels(await readMounts(), path);
  }

  countedBy(spec: VolumeSpec): string {
    return this.source(spec).driver;
  }

  /** Are volumes of the driver attached, as far as is known soon? An agent that starts does not wait for the API server to see what it has. */
  private async attaches(name: string): Promise<boolean> {
    const late = sleep(SOON_MS, null, { ref: false });
    const known = this.ground
      .api()
      ?.driver(name)
      .catch(() => null);
    return mustAttach((await Promise.race([known, late])) ?? null);
  }

  /** @throws VolumeFailure when it is no CSI volume; an inline one has its handle by the pod alone */
  private source(spec: VolumeSpec, pod?: Pod): CsiSource {
    const source = csiSource(spec, pod?.metadata?.namespace ?? '');
    if (source === null) throw new VolumeFailure('NoSource', 'volume source not found in volume.Spec');
    if (source.mode === 'Persistent' || pod === undefined) return source;
    return { ...source, handle: ephemeralHandle(pod.metadata?.uid ?? '', spec.name) };
  }
}
