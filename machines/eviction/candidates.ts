import type { Container, Pod } from '../protocol/api-types.ts';
import { hasPodLevelResources } from '../qos/pod-resources.ts';
import { bytesText, compareQuantities, canonicalQuantity } from '../values/quantity.ts';
import type { Disks } from './container-fs-thresholds.ts';
import { podUseOf, usageOf } from './pod-use.ts';
import type { FsPart, PodFigures, PodUse } from './pod-use.ts';
import type { Signal, StarvedResource } from './signals.ts';
import { resourceOf } from './signals.ts';

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
  const candidate = candidateFrom(podUseOf(pod, stats), signal, disks);
  if (stats === undefined) return candidate;
  const resource = resourceOf(signal);
  const whole = resource === 'memory' ? wholePod(pod, stats) : undefined;
  if (whole !== undefined) candidate.whole = whole;
  const over = containersOver(pod, stats, resource);
  if (over.length > 0) candidate.over = over;
  return candidate;
}

/** The same without the parts that take too much: what decides on the order. */
export function candidateFrom(use: PodUse, signal: Signal, disks: Disks): Candidate {
  const { uid, namespace, name, priority, critical, graceSeconds, asked, takes } = use;
  const candidate: Candidate = { uid, namespace, name, priority };
  if (critical === true) candidate.critical = true;
  if (graceSeconds !== undefined) candidate.graceSeconds = graceSeconds;
  if (takes === undefined) return candidate;
  const resource = resourceOf(signal);
  const usage = usageOf(use, resource, partsOf(signal, disks));
  const request = resource === 'memory' ? asked.memory : resource === 'ephemeral-storage' ? asked.storage : 0;
  // Of inodes, too, the requested storage is taken away: kubelet does so.
  candidate.figures = { usage, request, above: usage - (resource === 'inodes' ? asked.storage : request) };
  return candidate;
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
