import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Pod, Volume } from '../../../machines/protocol/api-types.ts';
import { podVolumeDir } from '../../host/files/pod-paths.ts';
import type { PluginFolder } from '../../host/files/pod-paths.ts';
import type { ProjectQuotas } from '../../host/quota/project-quotas.ts';
import { diskUsage } from './disk-usage.ts';
import type { ReadSizes } from './file-system-stats.ts';
import type { PvcReference, VolumeStats } from './summary.ts';

/** How long a request waits for volumes that were not looked at lately, ms. */
const LONGEST_WAIT_MS = 500;
/** Pods that are counted at the same time: small ones are mostly waiting, and a large one holds up only its lane. */
const LANES = 4;

/** A volume that a claim stands behind, mounted at `path`; its whole file system is its own. */
export interface ClaimedVolume {
  /** Name in the pod's `spec.volumes`. */
  name: string;
  path: string;
  /** Who counts it, for metrics; `statfs` when absent. */
  source?: string;
  /** Who asks its driver how much of it is used; when absent its file system tells. */
  usage?: () => Promise<DriverUsage | null>;
}

/** What a volume's driver says of it; null: it does not say. */
export interface DriverUsage {
  readonly capacityBytes: number | null;
  readonly usedBytes: number | null;
  readonly availableBytes: number | null;
  readonly inodes: number | null;
  readonly inodesUsed: number | null;
  readonly inodesFree: number | null;
  /** How the volume is, where the driver tells (CSI `VolumeCondition`). */
  readonly health?: { readonly abnormal: boolean; readonly message: string };
}

/** Options of {@link VolumeUsage}. */
export interface VolumeUsageOptions {
  /** The agent's root folder. */
  rootDir: string;
  /** `volumeStatsAggPeriod`, ms; 0 and less: no volume is told of. */
  periodMs: number;
  sizes: ReadSizes;
  /** Told of volumes that cannot be counted, as quietly as kubelet does (V(4)); nobody is when it is absent. */
  log?: Pick<Logger, 'info'> | undefined;
  /** Ms since the epoch, for what is told. */
  now: () => number;
  /** A clock that nobody can set, ms; the machine's, when it is not given. */
  steady?: () => number;
  /** Told how long it took to count a volume, seconds, and by what: `du`, `fsquota`, `statfs`, `block`, or a CSI driver. */
  onVolumeCounted?: ((seconds: number, source: string) => void) | undefined;
  /** Who knows what file systems count by themselves. */
  quotas?: Pick<ProjectQuotas, 'use'> | undefined;
  /** Told each time that a driver calls a volume of a pod (as in `spec.volumes`) abnormal, and why. */
  onAbnormal?: ((pod: Pod, volume: string, why: string) => void) | undefined;
  /** Volumes of claims; none as long as nothing mounts them. */
  claimed?: (pod: Pod) => readonly ClaimedVolume[];
}

/** Volumes of one pod. */
export interface PodVolumes {
  /** Those that count for the pod's ephemeral storage: emptyDir on disk and configMap (kubelet's IsLocalEphemeralVolume). */
  ephemeral: VolumeStats[];
  others: VolumeStats[];
}

interface Entry {
  /** When it was counted last, ms; -Infinity before the first time. */
  at: number;
  volumes: PodVolumes;
  counting: Promise<void> | undefined;
}

/**
 * What pods' volumes take. kubelet counts each pod's volumes in the background, each period or two. Here they are
 * counted when somebody asks: figures older than a period are counted again behind the answer, those older than two
 * before it. Few pods at a time, in small steps.
 */
export class VolumeUsage {
  private readonly options: VolumeUsageOptions;
  private readonly entries = new Map<string, Entry>();
  /** Ends of the lines in which pods wait for their turn. */
  private readonly lanes: Promise<void>[] = Array.from({ length: LANES }, () => Promise.resolve());
  private turns = 0;
  private readonly steady: () => number;

  constructor(options: VolumeUsageOptions) {
    this.options = options;
    this.steady = options.steady ?? (() => performance.now());
  }

  /**
   * Of these pods by UID; without those that are still being counted for the first time. Others are forgotten.
   *
   * @param longestWaitMs for volumes that were not looked at lately; then it tells what is known
   */
  async of(pods: readonly Pod[], longestWaitMs = LONGEST_WAIT_MS): Promise<ReadonlyMap<string, PodVolumes>> {
    const { periodMs } = this.options;
    if (periodMs <= 0) return new Map();
    const awaited: Promise<void>[] = [];
    const uids = new Set<string>();
    for (const pod of pods) {
      const uid = pod.metadata?.uid ?? '';
      if (uid === '' || (pod.spec?.volumes ?? []).length === 0) continue;
      uids.add(uid);
      let entry = this.entries.get(uid);
      if (entry === undefined) {
        entry = { at: -Infinity, volumes: { ephemeral: [], others: [] }, counting: undefined };
        this.entries.set(uid, entry);
      }
      const age = this.steady() - entry.at;
      if (age >= periodMs) entry.counting ??= this.count(pod, entry);
      if (age >= 2 * periodMs && entry.counting !== undefined) awaited.push(entry.counting);
    }
    for (const uid of this.entries.keys()) if (!uids.has(uid)) this.entries.delete(uid);
    if (awaited.length > 0) await atMost(Promise.all(awaited), longestWaitMs);
    const known = new Map<string, PodVolumes>();
    for (const [uid, { at, volumes }] of this.entries) if (at > -Infinity) known.set(uid, volumes);
    return known;
  }

  private count(pod: Pod, entry: Entry): Promise<void> {
    const lane = this.turns++ % LANES;
    const before = this.lanes[lane] ?? Promise.resolve();
    const turn = before.then(async () => {
      try {
        if (this.entries.get(pod.metadata?.uid ?? '') === entry) entry.volumes = await this.countPod(pod);
        entry.at = this.steady();
      } finally {
        entry.counting = undefined;
      }
    });
    // One that could not be counted holds up none of those that come after it.
    this.lanes[lane] = turn.catch(() => undefined);
    return this.lanes[lane];
  }

  private async countPod(pod: Pod): Promise<PodVolumes> {
    const volumes: PodVolumes = { ephemeral: [], others: [] };
    const uid = pod.metadata?.uid ?? '';
    for (const volume of pod.spec?.volumes ?? []) {
      const plugin = pluginOf(volume);
      if (plugin === undefined) continue;
      // Others may change the project of their files.
      const counted = pod.spec?.hostUsers === false && plugin === 'kubernetes.io~empty-dir';
      const folder = (): string => podVolumeDir(this.options.rootDir, uid, plugin, volume.name);
      const stats = await this.unless(pod, volume.name, () => this.folderStats(volume.name, folder, counted));
      if (stats !== undefined) (isLocalEphemeral(volume) ? volumes.ephemeral : volumes.others).push(stats);
    }
    for (const claimed of this.claimedOf(pod)) {
      const stats = await this.unless(pod, claimed.name, () => this.claimStats(pod, claimed));
      if (stats !== undefined) volumes.others.push(stats);
    }
    return volumes;
  }

  private claimedOf(pod: Pod): readonly ClaimedVolume[] {
    try {
      return this.options.claimed?.(pod) ?? [];
    } catch (err) {
      this.tellUncounted(pod, '', err);
      return [];
    }
  }

  /** A volume that cannot be counted is told of in the log, and is missing by itself: the pod's others are counted. */
  private async unless(
    pod: Pod,
    name: string,
    count: () => Promise<VolumeStats | undefined>,
  ): Promise<VolumeStats | undefined> {
    try {
      return await count();
    } catch (err) {
      // It is not set up, or not any more; kubelet knows of no such volume.
      if ((err as NodeJS.ErrnoException).code !== 'ENOENT') this.tellUncounted(pod, name, err);
      return undefined;
    }
  }

  private tellUncounted({ metadata }: Pod, volumeName: string, err: unknown): void {
    const about = { pod: `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`, podUID: metadata?.uid, volumeName };
    this.options.log?.info({ v: 4, ...about, err }, 'Failed to calculate volume metrics');
  }

  /** Undefined when its file system tells nothing. Throws when the volume is not set up, or cannot be read. */
  private async folderStats(
    name: string,
    folder: () => string,
    mayHaveQuota: boolean,
  ): Promise<VolumeStats | undefined> {
    const time = this.options.now() * 1e6;
    const path = folder();
    const began = performance.now();
    const counted = mayHaveQuota ? ((await this.options.quotas?.use(path)) ?? null) : null;
    const { bytes, inodes } = counted ?? (await diskUsage(path));
    this.options.onVolumeCounted?.((performance.now() - began) / 1000, counted === null ? 'du' : 'fsquota');
    const sizes = await this.options.sizes(path);
    if (sizes === null) return undefined;
    return {
      time,
      availableBytes: sizes.availableBytes,
      capacityBytes: sizes.capacityBytes,
      usedBytes: bytes,
      inodesFree: sizes.inodesFree,
      inodes: sizes.inodes,
      inodesUsed: inodes,
      name,
    };
  }

  private async claimStats(
    pod: Pod,
    { name, path, usage, source = 'statfs' }: ClaimedVolume,
  ): Promise<VolumeStats | undefined> {
    const volume = pod.spec?.volumes?.find((each) => each.name === name);
    const pvcRef = volume && claimOf(pod, volume);
    const told = { time: this.options.now() * 1e6, name, ...(pvcRef && { pvcRef }) };
    const began = performance.now();
    const count = (): void => this.options.onVolumeCounted?.((performance.now() - began) / 1000, source);
    if (usage !== undefined) {
      const its = await usage().catch((err: unknown) => {
        this.tellUncounted(pod, name, err);
        return null;
      });
      // A flex volume whose driver does not have it counted is not; a CSI driver was asked, whatever it said.
      if (its !== null || source !== 'statfs') count();
      if (its === null) return undefined;
      const { health } = its;
      if (health?.abnormal === true) this.options.onAbnormal?.(pod, name, health.message);
      return { ...told, ...known(its), ...(health && { volumeHealthStats: { abnormal: health.abnormal } }) };
    }
    const sizes = await this.options.sizes(path);
    count();
    if (sizes === null) return undefined;
    return {
      ...told,
      availableBytes: sizes.availableBytes,
      capacityBytes: sizes.capacityBytes,
      usedBytes: sizes.usedBytes,
      inodesFree: sizes.inodesFree,
      inodes: sizes.inodes,
      inodesUsed: sizes.inodes - sizes.inodesFree,
    };
  }
}

/** What the driver does not say is 0, as in kubelet's answer. */
function known(usage: DriverUsage): Omit<VolumeStats, 'time' | 'name' | 'pvcRef' | 'volumeHealthStats'> {
  return {
    availableBytes: usage.availableBytes ?? 0,
    capacityBytes: usage.capacityBytes ?? 0,
    usedBytes: usage.usedBytes ?? 0,
    inodesFree: usage.inodesFree ?? 0,
    inodes: usage.inodes ?? 0,
    inodesUsed: usage.inodesUsed ?? 0,
  };
}

/** The claim of a volume: the one it names, or the one made for it (`<pod>-<volume>`). */
function claimOf(pod: Pod, volume: Volume): PvcReference | undefined {
  const { name = '', namespace = '' } = pod.metadata ?? {};
  if (volume.persistentVolumeClaim) return { name: volume.persistentVolumeClaim.claimName, namespace };
  return volume.ephemeral ? { name: `${name}-${volume.name}`, namespace } : undefined;
}

/** Plugins that count their folder; hostPath and image volumes are not measured (MetricsNil). */
function pluginOf(volume: Volume): PluginFolder | undefined {
  if (volume.configMap) return 'kubernetes.io~configmap';
  if (volume.secret) return 'kubernetes.io~secret';
  if (volume.projected) return 'kubernetes.io~projected';
  if (volume.downwardAPI) return 'kubernetes.io~downward-api';
  const source = Object.keys(volume).find((key) => key !== 'name' && volume[key as keyof Volume] !== undefined);
  return source === undefined || source === 'emptyDir' ? 'kubernetes.io~empty-dir' : undefined;
}

function isLocalEphemeral(volume: Volume): boolean {
  if (volume.configMap) return true;
  return pluginOf(volume) === 'kubernetes.io~empty-dir' && (volume.emptyDir?.medium ?? '') === '';
}

async function atMost(work: Promise<unknown>, ms: number): Promise<void> {
  const limit = new AbortController();
  await Promise.race([work, sleep(ms, undefined, { signal: limit.signal }).catch(() => undefined)]);
  limit.abort();
}
