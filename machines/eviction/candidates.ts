import type { Container, Pod, Volume } from '../protocol/api-types.ts';
import { isCriticalPod } from '../qos/critical-pod.ts';
import { hasPodLevelResources, podRequests } from '../qos/pod-resources.ts';
import { amountsOf, units } from '../qos/resource-amounts.ts';
import { compareQuantities, canonicalQuantity, formatQuantity } from '../values/quantity.ts';
import type { Disks } from './container-fs-thresholds.ts';
import type { Signal, StarvedResource } from './signals.ts';
import { resourceOf } from './signals.ts';

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

/** A part of a pod that takes more of the starved resource than it asked for; quantities as kubelet writes them. */
export interface Excess {
  name: string;
  usage: string;
  request: string;
}

/** A pod that may be evicted, with the figures that decide; bytes or counts. */
export interface Candidate {
  uid: string;
  namespace: string;
  name: string;
  priority: number;
  /** Never evicted (static, mirror, or of a system priority). */
  critical?: true;
  /** `terminationGracePeriodSeconds`. */
  graceSeconds?: number;
  /** Missing: nothing is known of it, which makes it go first. `above`: usage less what counts as its request. */
  figures?: { usage: number; request: number; above: number };
  /** The pod as a whole, where its memory is requested as a whole (KEP-2837). */
  whole?: Excess;
  /** Its containers that take too much. */
  over?: Excess[];
}

/** What is measured of pods for a signal, by how the disks lie (kubelet's buildSignalToRankFunc). */
export function partsOf(signal: Signal, { imageFs, splitFs }: Disks): FsPart[] {
  if (!imageFs) return ['root', 'logs', 'volumes'];
  const [fs] = signal.split('.');
  if (!splitFs) return fs === 'nodefs' ? ['logs', 'volumes'] : ['root'];
  // Images belong to no pod.
  return fs === 'imagefs' ? [] : ['logs', 'volumes', 'root'];
}

/** A pod with its figures for a signal. @param stats undefined: none were found */
export function candidateOf(pod: Pod, stats: PodFigures | undefined, signal: Signal, disks: Disks): Candidate {
  const { uid = '', namespace = '', name = '' } = pod.metadata ?? {};
  const grace = pod.spec?.terminationGracePeriodSeconds;
  const candidate: Candidate = { uid, namespace, name, priority: pod.spec?.priority ?? 0 };
  if (isCriticalPod(pod)) candidate.critical = true;
  if (grace !== undefined) candidate.graceSeconds = grace;
  if (stats === undefined) return candidate;
  const resource = resourceOf(signal);
  const usage = usageOf(pod, stats, resource, partsOf(signal, disks));
  const request = requestOf(pod, resource);
  // Of inodes, too, the requested storage is taken away: kubelet does so.
  const less = resource === 'inodes' ? requestOf(pod, 'ephemeral-storage') : request;
  candidate.figures = { usage, request, above: usage - less };
  const whole = resource === 'memory' ? wholePod(pod, stats) : undefined;
  if (whole !== undefined) candidate.whole = whole;
  const over = containersOver(pod, stats, resource);
  if (over.length > 0) candidate.over = over;
  return candidate;
}

function usageOf(pod: Pod, stats: PodFigures, resource: StarvedResource, parts: readonly FsPart[]): number {
  if (resource === 'memory') return stats.memory?.workingSetBytes ?? 0;
  if (resource === 'pids') return stats.process_stats?.process_count ?? 0;
  const field = resource === 'inodes' ? 'inodesUsed' : 'usedBytes';
  let sum = 0;
  for (const { rootfs, logs } of stats.containers) {
    if (parts.includes('root')) sum += rootfs?.[field] ?? 0;
    if (parts.includes('logs')) sum += logs?.[field] ?? 0;
  }
  if (!parts.includes('volumes')) return sum;
  for (const volume of pod.spec?.volumes ?? [])
    if (isLocal(volume)) sum += stats.volume?.find(({ name }) => name === volume.name)?.[field] ?? 0;
  return sum;
}

/** Volumes on the node's own disk (kubelet's localVolumeNames). */
function isLocal({ hostPath, gitRepo, emptyDir, configMap }: Volume): boolean {
  if (hostPath ?? gitRepo ?? configMap) return true;
  return emptyDir !== undefined && (emptyDir.medium ?? '') === '';
}

/** Kubelet's GetResourceRequestQuantity: with resources for the whole pod only those count, overhead only beside a request. */
function requestOf(pod: Pod, resource: StarvedResource): number {
  if (hasPodLevelResources(pod)) {
    const own = resource === 'memory' ? amountsOf(pod.spec?.resources?.requests)[resource] : undefined;
    return withOverhead(pod, resource, own ?? 0n);
  }
  return withOverhead(pod, resource, podRequests(pod, { excludeOverhead: true })[resource] ?? 0n);
}

function withOverhead(pod: Pod, resource: string, request: bigint): number {
  return units(request === 0n ? 0n : request + (amountsOf(pod.spec?.overhead)[resource] ?? 0n));
}

function wholePod(pod: Pod, stats: PodFigures): Excess | undefined {
  const request = pod.spec?.resources?.requests?.['memory'];
  if (!hasPodLevelResources(pod) || request === undefined || stats.memory === undefined) return undefined;
  const usage = bytesText(stats.memory.workingSetBytes ?? 0);
  return { name: pod.metadata?.name ?? '', usage, request: canonicalQuantity(request) };
}

/** Regular and init containers that take more than they asked for, in the order of the stats. */
function containersOver(pod: Pod, stats: PodFigures, resource: StarvedResource): Excess[] {
  if (resource !== 'memory' && resource !== 'ephemeral-storage') return [];
  const containers: Container[] = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  return stats.containers.flatMap(({ name, memory, rootfs, logs }) => {
    const container = containers.find((each) => each.name === name);
    const layers = [rootfs?.usedBytes, logs?.usedBytes];
    const used = resource === 'memory' ? memory?.workingSetBytes : sumOf(layers);
    if (container === undefined || used === undefined) return [];
    const request = container.resources?.requests?.[resource] ?? '0';
    if (compareQuantities(String(used), request) <= 0) return [];
    return [{ name, usage: bytesText(used), request: canonicalQuantity(request) }];
  });
}

/** Undefined when one of them is not known. */
function sumOf(parts: readonly (number | undefined)[]): number | undefined {
  return parts.reduce((sum, part) => (sum === undefined || part === undefined ? undefined : sum + part), 0);
}

/** Bytes as a quantity. */
export function bytesText(bytes: number): string {
  return formatQuantity(BigInt(bytes) * 1_000_000_000n, 'BinarySI');
}
