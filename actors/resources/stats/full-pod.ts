import type { FilesystemUsage } from '../../../cri/generated/runtime/v1/api.ts';
import type { CgroupSurvey } from './cgroup-survey.ts';
import { ephemeralStorage, fileSystemStats, orderedFs } from './file-system-stats.ts';
import type { ReadSizes } from './file-system-stats.ts';
import { filesStats } from './pod-files.ts';
import type { PodFiles } from './pod-files.ts';
import { addContainer, podStatsOf } from './pod-usage.ts';
import type { PodUsage } from './pod-usage.ts';
import type { MeasuredContainer, MeasuredPod } from './runtime-listing.ts';
import { runtimeUsage } from './runtime-usage.ts';
import type { ContainerStats, FsStats, PodStats } from './summary.ts';
import { toldUsage } from './told-pods.ts';
import type { PodVolumes } from './volume-usage.ts';

/** What the pods of one summary are made from. */
export interface FullPodParts {
  survey: CgroupSurvey;
  /** By sandbox. */
  files: ReadonlyMap<string, PodFiles>;
  /** ms since the epoch. */
  now: () => number;
  /** The file system of the agent's root folder. */
  rootFs: FsStats;
  /** File systems of the runtime. */
  images: ImageSizes;
  /** By UID. */
  volumes: ReadonlyMap<string, PodVolumes>;
  psi: boolean;
}

/** File systems of the runtime, each looked at once. */
export class ImageSizes {
  private readonly sizes: ReadSizes;
  private readonly known = new Map<string, Promise<FsStats>>();

  constructor(sizes: ReadSizes) {
    this.sizes = sizes;
  }

  /** The file system that the runtime names; nothing of one that it does not name, or that is not on this node. */
  async of(usage: FilesystemUsage | undefined): Promise<FsStats> {
    const mountpoint = usage?.fsId?.mountpoint;
    if (mountpoint === undefined) return { time: null };
    let found = this.known.get(mountpoint);
    if (found === undefined) {
      found = this.sizes(mountpoint).then((sizes) => fileSystemStats(sizes, null));
      this.known.set(mountpoint, found);
    }
    return found;
  }
}

/** A pod with everything there is to tell of it. */
export async function fullPod({ sandbox, containers, told }: MeasuredPod, parts: FullPodParts): Promise<PodStats> {
  const { survey, rootFs } = parts;
  const { metadata } = sandbox;
  const uid = metadata?.uid ?? '';
  const pod = podStatsOf(sandbox);
  const files = parts.files.get(sandbox.id);
  const itself = told && toldUsage(told, parts.psi);
  const podUsage: PodUsage | undefined = itself ?? survey.usageOf(`pod${uid}`);
  if (itself !== undefined) Object.assign(pod, itself);
  let processes: number | undefined;
  for (const each of containers) {
    const logs = filesStats(rootFs, files?.logs.get(each.container.metadata?.name ?? ''));
    addContainer(pod, await fullContainer(each, parts, logs), podUsage);
    const own = survey.processesOf(each.container.id);
    if (own !== undefined) processes = (processes ?? 0) + own;
  }
  const counted = parts.volumes.get(uid);
  const volumes = [...(counted?.ephemeral ?? []), ...(counted?.others ?? [])];
  const { podRef, startTime, cpu, memory, io, swap } = pod;
  return {
    ...{ podRef, startTime, containers: pod.containers, cpu, memory, io },
    network: itself === undefined ? survey.networkOf(sandbox.id) : itself.network,
    volume: volumes.length > 0 ? volumes : undefined,
    'ephemeral-storage': ephemeralStorage(rootFs, [
      ...pod.containers.flatMap(({ rootfs, logs: log }) => [rootfs, log]),
      ...(counted?.ephemeral ?? []),
      ...(files?.others ?? []).map((each) => filesStats(rootFs, each)),
    ]),
    process_stats: itself?.process_stats ?? (processes === undefined ? undefined : { process_count: processes }),
    swap,
  };
}

/** What its cgroup tells comes before what the runtime tells, but for the writable layer. */
async function fullContainer(
  { container, stats }: MeasuredContainer,
  { survey, now, images, psi }: FullPodParts,
  logs: FsStats | undefined,
): Promise<ContainerStats> {
  const told = runtimeUsage(stats, Number(container.createdAt), now() * 1e6, psi);
  const own = survey.usageOf(container.id);
  return {
    name: told.name,
    startTime: told.startTime,
    cpu: own?.cpu ?? told.cpu,
    memory: own?.memory ?? told.memory,
    io: own?.io ?? told.io,
    rootfs: orderedFs({ ...(await images.of(stats.writableLayer)), ...told.rootfs, time: told.rootfs?.time ?? null }),
    logs,
    swap: own?.swap ?? told.swap,
  };
}
