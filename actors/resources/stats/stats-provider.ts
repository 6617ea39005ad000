import type { NodeAndPods } from '../../../machines/eviction/soundings.ts';
import { networkStats } from './cgroup-usage.ts';
import { CgroupSurveyor } from './cgroup-survey.ts';
import type { SurveyWish } from './cgroup-survey.ts';
import { readSmall } from '../cgroup-stats/small-files.ts';
import { meminfoBytes } from '../machine/machine-facts.ts';
import { nodeDisks } from './node-disks.ts';
import type { NodeDisks } from './node-disks.ts';
import { fileSystemStats, orderedFs } from './file-system-stats.ts';
import { ImageSizes, fullPod } from './full-pod.ts';
import { countLogs } from './pod-files.ts';
import type { PodFolders } from './pod-files.ts';
import { PodLooks } from './pod-looks.ts';
import { listRunning, NOTHING, worded } from './runtime-listing.ts';
import { valueOf } from './runtime-usage.ts';
import { shortPod } from './short-pod.ts';
import { machineReaders } from './stats-options.ts';
import type { MachineReaders, StatsOptions } from './stats-options.ts';
import type { FsStats, NodeStats, Summary } from './summary.ts';
import { VolumeUsage } from './volume-usage.ts';
import type { PodVolumes } from './volume-usage.ts';

/** Use of a container's logs. */
export interface LogUsage {
  namespace: string;
  pod: string;
  uid: string;
  container: string;
  usedBytes: number;
}

/** So long volumes are counted for whom it must not be figures of long ago, ms: the time between two looks of eviction. */
const LONGEST_COUNT_MS = 10_000;

/** What is read of cgroups for the node alone. */
const NODE: SurveyWish = { rates: false, networks: false, without: { processes: true } };

/**
 * Tells what the node and its pods use, as kubelet's summary provider does with a CRI runtime: cpu, memory, swap, pressure
 * and network out of cgroups and /proc (or all of pods out of the runtime, with its gate); writable layers and images out of the runtime, and what no cgroup tells; logs and
 * volumes by looking at the files. Nothing is read while nobody asks; those who ask at the same time get the same answer.
 */
export class StatsProvider {
  private readonly options: StatsOptions;
  private readonly machine: MachineReaders;
  private readonly cgroups: CgroupSurveyor;
  private readonly volumes: VolumeUsage;
  private readonly looks: PodLooks;
  private readonly psi: boolean;
  private readonly underWay = new Map<string, Promise<Summary>>();

  constructor(options: StatsOptions) {
    this.options = options;
    const { config, featureGates, flags, now, claimed, onVolumeCounted, onAbnormal, quotas } = options;
    this.machine = { ...machineReaders, ...options.machine };
    this.psi = featureGates.enabled('KubeletPSI');
    this.cgroups = new CgroupSurveyor(options, this.machine, this.psi);
    this.looks = new PodLooks(options.cri, this.cgroups, {
      folders: this.folders,
      fromRuntime: featureGates.enabled('PodAndContainerStatsFromCRI'),
    });
    this.volumes = new VolumeUsage({
      ...{ rootDir: flags.rootDir, periodMs: config.volumeStatsAggPeriod, now, claimed, onVolumeCounted, quotas },
      onAbnormal,
      sizes: this.machine.sizes,
      log: options.log,
    });
  }

  /** The whole summary. @throws Error with kubelet's words, when the runtime does not answer */
  summary(): Promise<Summary> {
    return this.shared('full', () => this.full());
  }

  /**
   * Cpu and memory alone.
   * @param rates false: what `/metrics/resource` tells; rates, limits and pressure are not to be relied on
   * @throws Error as {@link summary}
   */
  cpuAndMemory(rates = true): Promise<Summary> {
    return this.shared(rates ? 'short' : 'counters', () => this.short(rates));
  }

  /**
   * The node alone, without its pods: memory of the node and of all pods together, file systems, tasks. Takes two
   * cgroups, two `statfs` and one call of the runtime.
   * @throws Error as {@link summary}
   */
  async nodeAlone(): Promise<NodeStats> {
    const { node, flags, cri, now } = this.options;
    const images = new ImageSizes(this.machine.sizes);
    const [survey, { imageFilesystems, containerFilesystems }] = await Promise.all([
      this.cgroups.survey(NOTHING, NODE),
      worded('failed to get imageFs stats', cri.image.imageFsInfo({})),
    ]);
    const time = now() * 1e6;
    // The sizes are of now, whenever the runtime counted what images take.
    const imageFs = { ...(await images.of(imageFilesystems[0])), time };
    const containerFs = { ...(await images.of(containerFilesystems[0])), time };
    return {
      nodeName: node.nodeName,
      systemContainers: survey.systemContainers(false),
      startTime: survey.machine.bootedAt * 1e6,
      memory: survey.rootUsage().memory,
      fs: fileSystemStats(await this.machine.sizes(flags.rootDir), time),
      runtime: { imageFs, containerFs: containerFs.capacityBytes === undefined ? imageFs : containerFs },
      rlimit: survey.machine.rlimit,
    };
  }

  /** Bytes of the node's memory that are free, or file pages not in use, and those that pods take, less than nothing. Small reads. */
  memoryNow(): NodeAndPods {
    const text = readSmall('/proc/meminfo');
    const taken = this.cgroups.podsMemory();
    return {
      node: text === undefined ? null : meminfoBytes(text, 'MemFree') + meminfoBytes(text, 'Inactive(file)'),
      pods: taken === null ? null : -taken,
    };
  }

  /** How the disks lie. @throws Error when the runtime does not tell where its images are */
  async disks(): Promise<NodeDisks> {
    const info = await worded('failed to get imageFs stats', this.options.cri.image.imageFsInfo({}));
    return nodeDisks(info, this.options.flags.rootDir, this.machine.device);
  }

  /** Volumes of all pods of the node by UID (`kubelet_volume_stats_*`). */
  volumesOfPods(): Promise<ReadonlyMap<string, PodVolumes>> {
    return this.volumes.of(this.options.node.pods());
  }

  /**
   * Has the volumes counted that were not lately: whoever is chosen by what they take is not to go for figures of long ago. kubelet
   * counts them all the time, each `volumeStatsAggPeriod` or two.
   */
  async volumesCounted(): Promise<void> {
    await this.volumes.of(this.options.node.pods(), LONGEST_COUNT_MS);
  }

  /** Logs of all running containers. @throws Error as {@link summary} */
  async logs(): Promise<LogUsage[]> {
    const { containers, sandboxes } = await listRunning(this.options.cri);
    const used = await Promise.all(
      [...containers.values()].map(async ({ podSandboxId, metadata }) => {
        const pod = sandboxes.get(podSandboxId)?.metadata;
        const container = metadata?.name ?? '';
        const files = pod && (await countLogs(this.folders, pod, container));
        if (pod === undefined || files === null || files === undefined || files.inodes === 0) return [];
        return [{ namespace: pod.namespace, pod: pod.name, uid: pod.uid, container, usedBytes: files.bytes }];
      }),
    );
    return used.flat();
  }

  private get folders(): PodFolders {
    const { flags, config, now } = this.options;
    return { rootDir: flags.rootDir, podLogsDir: config.podLogsDir, now };
  }

  private shared(kind: string, make: () => Promise<Summary>): Promise<Summary> {
    const current = this.underWay.get(kind);
    if (current !== undefined) return current;
    const made = make().finally(() => this.underWay.delete(kind));
    this.underWay.set(kind, made);
    return made;
  }

  private async full(): Promise<Summary> {
    const { node, flags, now } = this.options;
    const images = new ImageSizes(this.machine.sizes);
    const asked = {
      images: worded('failed to get imageFs stats', this.imageFs(images)),
      pods: worded('failed to list pod stats', this.looks.full()),
      volumes: this.volumesOfPods(),
      sizes: this.machine.sizes(flags.rootDir),
    };
    // Of many failures the first in this order is told, not the first in time.
    await Promise.allSettled(Object.values(asked));
    const [imageFs, { pods, survey, files }, volumes] = [await asked.images, await asked.pods, await asked.volumes];
    const { machine, root } = survey;
    const sizes = await asked.sizes;
    if (sizes === null) throw new Error('failed to get rootFs stats: failed to get rootFs info');
    const rootFs = fileSystemStats(sizes, root.reading.at * 1e6);
    const usage = survey.rootUsage();
    const nodeStats: NodeStats = {
      nodeName: node.nodeName,
      systemContainers: survey.systemContainers(true),
      startTime: machine.bootedAt * 1e6,
      cpu: usage.cpu,
      memory: usage.memory,
      io: usage.io,
      network: networkStats(this.machine.interfaces(1), root.reading.at),
      fs: orderedFs({ ...rootFs, usedBytes: sizes.usedBytes, inodesUsed: sizes.inodes - sizes.inodesFree }),
      runtime: { imageFs, containerFs: imageFs },
      rlimit: machine.rlimit,
      swap: usage.swap,
    };
    const parts = { survey, files, rootFs, images, volumes, psi: this.psi, now };
    return { node: nodeStats, pods: await Promise.all(pods.map((pod) => fullPod(pod, parts))) };
  }

  private async short(rates: boolean): Promise<Summary> {
    const { node } = this.options;
    const { pods, survey } = await worded('failed to list pod stats', this.looks.cpuAndMemory(rates));
    const usage = survey.rootUsage();
    const nodeStats: NodeStats = {
      nodeName: node.nodeName,
      systemContainers: survey.systemContainers(false),
      startTime: survey.root.reading.createdAt * 1e6,
      cpu: usage.cpu,
      memory: usage.memory,
      swap: usage.swap,
    };
    return { node: nodeStats, pods: pods.map((pod) => shortPod(pod, survey, this.options.now() * 1e6, this.psi)) };
  }

  /** The first file system of images; what the node does not tell of it is left out. */
  private async imageFs(images: ImageSizes): Promise<FsStats> {
    const [fs] = (await this.options.cri.image.imageFsInfo({})).imageFilesystems;
    if (fs === undefined) throw new Error('imageFs information is unavailable');
    const [usedBytes, inodesUsed] = [valueOf(fs.usedBytes), valueOf(fs.inodesUsed)];
    return orderedFs({ ...(await images.of(fs)), time: Number(fs.timestamp), usedBytes, inodesUsed });
  }
}
