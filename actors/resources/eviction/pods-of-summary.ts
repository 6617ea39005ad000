import type { Candidate } from '../../../machines/eviction/candidates.ts';
import { candidateOf } from '../../../machines/eviction/candidates.ts';
import type { Disks } from '../../../machines/eviction/container-fs-thresholds.ts';
import { offence } from '../../../machines/eviction/local-storage.ts';
import type { Offender } from '../../../machines/eviction/local-storage.ts';
import type { PodUse } from '../../../machines/eviction/pod-use.ts';
import { podUseOf } from '../../../machines/eviction/pod-use.ts';
import type { Signal } from '../../../machines/eviction/signals.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodStats, Summary } from '../stats/summary.ts';

/** Those of the pods that break a limit on local storage, in their order. */
export function offendersOf(pods: readonly Pod[], summary: Summary, imageFs: boolean): Offender[] {
  const stats = byUid(summary);
  return pods.flatMap((pod) => {
    const own = stats.get(uidOf(pod));
    return (own && offence(pod, own, imageFs)) ?? [];
  });
}

/** What the pods take of everything. */
export function usesOf(pods: readonly Pod[], summary: Summary): PodUse[] {
  const stats = byUid(summary);
  return pods.map((pod) => podUseOf(pod, stats.get(uidOf(pod))));
}

/** The pods with their figures for a signal. */
export function candidatesOf(pods: readonly Pod[], summary: Summary, signal: Signal, disks: Disks): Candidate[] {
  const stats = byUid(summary);
  return pods.map((pod) => candidateOf(pod, stats.get(uidOf(pod)), signal, disks));
}

function byUid({ pods }: Summary): Map<string, PodStats> {
  return new Map(pods.map((pod) => [pod.podRef.uid, pod]));
}

function uidOf({ metadata }: Pod): string {
  return metadata?.uid ?? '';
}
