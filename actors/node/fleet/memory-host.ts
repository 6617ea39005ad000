import { join, normalize } from 'node:path';
import type { Logger } from 'pino';
import type { Ask } from '../../../machines/protocol/ask.ts';
import type { EffectCatalog, PodCgroup, VolumeSetup } from '../../../machines/protocol/effects.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { HostFailure, codeOf } from '../../host/files/host-failure.ts';
import { volumeContents } from '../../host/volumes/volume-content.ts';
import { expandedSubPaths } from '../../host/effects/container-env.ts';
import type { HostEffectType } from '../../host/effects/host-effects.ts';
import type { MachineFiles } from './machine-files.ts';
import type { NodeLogs } from './node-logs.ts';

/** What {@link MemoryHost} is made from. */
export interface MemoryHostOptions {
  rootDir: string;
  logs: NodeLogs;
  /** Whether tokens of service accounts are asked for: nobody here can read them. */
  tokens: boolean;
  /** Where volumes and what belongs to containers are real files; null: nowhere. */
  files: MachineFiles | null;
  log: Logger;
}

type Limits = Pick<PodCgroup, 'cpuShares' | 'cpuQuotaUs' | 'cpuPeriodUs' | 'memoryLimitBytes'>;
type Params<T extends HostEffectType> = EffectCatalog[T]['params'];

/** Of files whose content is asked for where they are made. */
const NO_CONTENTS = new Map<string, Promise<unknown>>();
/** What a cgroup without a memory limit allows: more than any node has. */
const UNLIMITED = 2 ** 63;

/**
 * A simulated machine's files, mounts and cgroups, in memory. Volumes are paths that nothing lies at, unless the profile wants
 * files; the objects that they show must be there all the same, and are asked for with every set-up.
 */
export class MemoryHost {
  private readonly options: MemoryHostOptions;
  private readonly cgroups = new Map<string, Limits>();
  /** UIDs of pods that have volumes. */
  private readonly folders = new Set<string>();

  constructor(options: MemoryHostOptions) {
    this.options = options;
  }

  /** The machine is off: nothing is mounted, no cgroup is there. */
  async powerOff(): Promise<void> {
    this.cgroups.clear();
    this.folders.clear();
    await this.options.files?.unmount();
  }

  /** The machine is given up. */
  async end(): Promise<void> {
    await this.options.files?.remove();
  }

  /** Carries out an effect; rejects as `actors/host` would. */
  async run(type: HostEffectType, params: unknown, ask: Ask): Promise<unknown> {
    const { files } = this.options;
    switch (type) {
      case 'host.EnsurePodCgroup': {
        const { path, ...limits } = (params as Params<'host.EnsurePodCgroup'>).cgroup;
        this.set(path, limits);
        return {};
      }
      case 'host.UpdatePodCgroup': {
        const { path, limits } = params as Params<'host.UpdatePodCgroup'>;
        this.set(path, limits);
        return {};
      }
      case 'host.RemovePodCgroup':
        this.cgroups.delete((params as Params<'host.RemovePodCgroup'>).path);
        return {};
      case 'host.ReadPodResources':
        return this.readResources(params as Params<'host.ReadPodResources'>);
      case 'host.SetUpVolumes':
        return this.setUp(params as Params<'host.SetUpVolumes'>, ask);
      case 'host.TearDownPod':
        this.folders.delete((params as Params<'host.TearDownPod'>).podUid);
        await files?.tearDown(params as Params<'host.TearDownPod'>, ask);
        return {};
      case 'host.PrepareContainer': {
        if (files !== null) return files.prepare(params as Params<'host.PrepareContainer'>, ask);
        const { log } = this.options;
        const subPaths = await expandedSubPaths(params as Params<'host.PrepareContainer'>, log, ask);
        return {
          subPaths: Object.fromEntries(
            subPaths.map(({ key, ofImage, volumePath, subPath }) => [
              key,
              ofImage ? subPath : join(volumePath, subPath),
            ]),
          ),
        };
      }
      case 'host.RemovePodLogs':
        this.options.logs.removeFolder((params as Params<'host.RemovePodLogs'>).logDirectory);
        return {};
      case 'host.RemoveContainerLog':
        this.options.logs.remove((params as Params<'host.RemoveContainerLog'>).logPath);
        return {};
      case 'host.ReadTerminationMessage':
        return { message: await this.terminationMessage(params as Params<'host.ReadTerminationMessage'>, ask) };
      case 'host.LinkLog':
        return {};
      case 'host.ReadResolver':
        throw new Error('a simulated machine has no resolver file');
      case 'host.PrepareClaims':
        return ask('claims.Prepare', params as Params<'host.PrepareClaims'>);
      case 'host.UnprepareClaims':
        return ask('claims.Unprepare', params as Params<'host.UnprepareClaims'>);
    }
  }

  private set(path: string, limits: Limits): void {
    const { cpuShares, cpuQuotaUs, cpuPeriodUs, memoryLimitBytes } = limits;
    const before = this.cgroups.get(path);
    this.cgroups.set(path, {
      cpuShares: cpuShares ?? before?.cpuShares,
      cpuQuotaUs: cpuQuotaUs ?? before?.cpuQuotaUs,
      cpuPeriodUs: cpuPeriodUs ?? before?.cpuPeriodUs,
      memoryLimitBytes: memoryLimitBytes ?? before?.memoryLimitBytes,
    });
  }

  private readResources({ path, containers }: Params<'host.ReadPodResources'>) {
    const limits = this.cgroups.get(path);
    if (limits === undefined)
      throw new HostFailure('ENOENT', `open /sys/fs/cgroup${path}/cpu.weight: no such file or directory`);
    const { memoryLimitBytes = -1 } = limits;
    return {
      cpuShares: limits.cpuShares ?? 2,
      cpuQuotaUs: limits.cpuQuotaUs ?? -1,
      cpuPeriodUs: limits.cpuPeriodUs ?? 100_000,
      memoryLimitBytes: memoryLimitBytes < 0 ? UNLIMITED : memoryLimitBytes,
      usageBytes: 0,
      containers: Object.fromEntries(containers.map(({ name }) => [name, 0])),
    };
  }

  private async setUp(params: Params<'host.SetUpVolumes'>, ask: Ask) {
    const { podUid, volumes } = params;
    const { files } = this.options;
    this.folders.add(podUid);
    const wanted = this.options.tokens ? params : { ...params, volumes: volumes.map(withoutTokens) };
    const made = files === null ? { paths: {} } : await files.setUp(wanted, ask);
    const contents = files === null ? volumeContents(wanted, ask) : NO_CONTENTS;
    const paths: Record<string, string> = { ...made.paths };
    for (const volume of volumes) {
      if (volume.name in paths) continue;
      try {
        await contents.get(volume.name);
      } catch (error) {
        const text = `MountVolume.SetUp failed for volume "${volume.name}" : ${messageOf(error)}`;
        throw new HostFailure(codeOf(error) || 'Volume', text, { cause: error });
      }
      // In one piece: a text that was put together keeps all its pieces, too.
      paths[volume.name] = Buffer.from(this.pathOf(podUid, volume)).toString();
    }
    return { ...made, paths };
  }

  private pathOf(podUid: string, volume: VolumeSetup): string {
    // Never a path of this machine: a container that plays its command would have its files.
    if (volume.kind === 'hostPath') return join(this.options.rootDir, 'hosts', normalize(join('/', volume.path)));
    const plugin = volume.kind === 'emptyDir' ? 'empty-dir' : volume.kind.toLowerCase();
    return join(this.options.rootDir, 'pods', podUid, 'volumes', `kubernetes.io~${plugin}`, volume.name);
  }

  private async terminationMessage(params: Params<'host.ReadTerminationMessage'>, ask: Ask): Promise<string> {
    const { fallbackLogPath, maxBytes, maxLines, ...file } = params;
    // The log has no file until something is said, which is no error here.
    const left = await this.options.files?.terminationMessage({ ...file, maxBytes, maxLines }, ask);
    if (left !== undefined && left !== '') return left;
    if (fallbackLogPath === undefined) return '';
    return this.options.logs.tail(fallbackLogPath, maxLines, Math.min(maxBytes, 2048));
  }
}

function withoutTokens(volume: VolumeSetup): VolumeSetup {
  if (volume.kind !== 'projected') return volume;
  return { ...volume, sources: volume.sources.filter(({ kind }) => kind !== 'serviceAccountToken') };
}
