import type { Pod, Volume } from '../protocol/api-types.ts';
import { isCriticalPod } from '../qos/critical-pod.ts';
import { hasPodLevelResources, podRequests } from '../qos/pod-resources.ts';
import { amountsOf, units } from '../qos/resource-amounts.ts';
import type { StarvedResource } from './signals.ts';

/** What a part of a pod takes of a file system. */
export interface FsUse {
  usedBytes?: number | undefined;
  inodesUsed?: number | undefined;
}

/** What of a pod's stats eviction looks at: the summary API's `PodStats`. */
export interface PodFigures {
  containers: readonly {
    name: string;
    memory?: { workingSetBytes?: number | undefined } | undefined;
    rootfs?: FsUse | undefined;
    logs?: FsUse | undefined;
  }[];
  memory?: { workingSetBytes?: number | undefined } | undefined;
  volume?: readonly (FsUse & { name: string })[] | undefined;
  'ephemeral-storage'?: FsUse | undefined;
  process_stats?: { process_count: number } | undefined;
}

/** What of pods counts for a file system (kubelet's fsStatsType). */
export type FsPart = 'root' | 'logs' | 'volumes';

/** What a pod takes of a file system: bytes and inodes. */
export interface DiskUse {
  bytes: number;
  inodes: number;
}

/** A pod with all that can decide whether it has to go, whatever runs short; bytes or counts. Plain JSON. */
export interface PodUse {
  uid: string;
  namespace: string;
  name: string;
  priority: number;
  /** Never evicted (static, mirror, or of a system priority). */
  critical?: true;
  /** `terminationGracePeriodSeconds`. */
  graceSeconds?: number;
  /** What it asked for; `storage`: ephemeral storage. */
  asked: { memory: number; storage: number };
  /** Missing: nothing is known of it. */
  takes?: { memory: number; pids: number; disk: Record<FsPart, DiskUse> };
}

/** What a pod takes and asked for. @param stats undefined: none were found */
export function podUseOf(pod: Pod, stats: PodFigures | undefined): PodUse {
  const { uid = '', namespace = '', name = '' } = pod.metadata ?? {};
  const grace = pod.spec?.terminationGracePeriodSeconds;
  const asked = { memory: requestOf(pod, 'memory'), storage: requestOf(pod, 'ephemeral-storage') };
  const use: PodUse = { uid, namespace, name, priority: pod.spec?.priority ?? 0, asked };
  if (isCriticalPod(pod)) use.critical = true;
  if (grace !== undefined) use.graceSeconds = grace;
  if (stats === undefined) return use;
  use.takes = {
    memory: stats.memory?.workingSetBytes ?? 0,
    pids: stats.process_stats?.process_count ?? 0,
    disk: {
      root: sumOf(stats.containers.map(({ rootfs }) => rootfs)),
      logs: sumOf(stats.containers.map(({ logs }) => logs)),
      volumes: sumOf((pod.spec?.volumes ?? []).filter(isLocal).map(({ name: own }) => volumeOf(stats, own))),
    },
  };
  return use;
}

/** What it takes of a resource, of disks in these parts. */
export function usageOf({ takes }: PodUse, resource: StarvedResource, parts: readonly FsPart[]): number {
  if (takes === undefined) return 0;
  if (resource === 'memory' || resource === 'pids') return takes[resource];
  const field = resource === 'inodes' ? 'inodes' : 'bytes';
  return parts.reduce((sum, part) => sum + takes.disk[part][field], 0);
}

function volumeOf({ volume }: PodFigures, name: string): FsUse | undefined {
  return volume?.find((each) => each.name === name);
}

function sumOf(all: readonly (FsUse | undefined)[]): DiskUse {
  let [bytes, inodes] = [0, 0];
  for (const each of all) {
    bytes += each?.usedBytes ?? 0;
    inodes += each?.inodesUsed ?? 0;
  }
  return { bytes, inodes };
}

/** Volumes on the node's own disk (kubelet's localVolumeNames). */
function isLocal({ hostPath, gitRepo, emptyDir, configMap }: Volume): boolean {
  if (hostPath ?? gitRepo ?? configMap) return true;
  return emptyDir !== undefined && (emptyDir.medium ?? '') === '';
}

/** Kubelet's GetResourceRequestQuantity: with resources for the whole pod only those count, overhead only beside a request. */
function requestOf(pod: Pod, resource: 'memory' | 'ephemeral-storage'): number {
  if (hasPodLevelResources(pod)) {
    const own = resource === 'memory' ? amountsOf(pod.spec?.resources?.requests)[resource] : undefined;
    return withOverhead(pod, resource, own ?? 0n);
  }
  return withOverhead(pod, resource, podRequests(pod, { excludeOverhead: true })[resource] ?? 0n);
}

function withOverhead(pod: Pod, resource: string, request: bigint): number {
  return units(request === 0n ? 0n : request + (amountsOf(pod.spec?.overhead)[resource] ?? 0n));
}
