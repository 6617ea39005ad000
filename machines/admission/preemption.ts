import type { Pod } from '../protocol/api-types.ts';
import { isCriticalPod } from '../qos/critical-pod.ts';
import { hasPodLevelResources, podRequests } from '../qos/pod-resources.ts';
import { podQosClass } from '../qos/qos-class.ts';
import { amountsOf, milli, units } from '../qos/resource-amounts.ts';
import type { Shortage } from './rejection.ts';

/** Whom a critical pod displaces, or why that would not be enough (kubelet's words). */
export type Preemption = { victims: Pod[] } | { problem: string };

/**
 * Chooses the pods that go so that a critical pod gets in (kubelet's getPodsToPreempt): only such as it may displace, and of those as few
 * guaranteed ones as can be, then burstable ones, then pods of best effort; of a class those whose requests come closest.
 */
export function podsToPreempt(
  preemptor: Pod,
  pods: readonly Pod[],
  shortages: readonly Shortage[],
  counting: Counting = AS_BEFORE,
): Preemption {
  const candidates = pods.filter((pod) => mayPreempt(preemptor, pod));
  const of = (qos: string): Pod[] => candidates.filter((pod) => podQosClass(pod) === qos);
  const [bestEffort, burstable, guaranteed] = [of('BestEffort'), of('Burstable'), of('Guaranteed')];
  const missing = lacking(shortages, candidates, counting);
  if (missing.length > 0) return { problem: `no set of running pods found to reclaim resources: ${spoken(missing)}` };
  // Each class as if all of the lesser ones had gone already, and of these what is then still needed.
  const first = nearest(guaranteed, lacking(shortages, [...bestEffort, ...burstable], counting), counting);
  const second = nearest(burstable, lacking(shortages, [...bestEffort, ...first], counting), counting);
  const third = nearest(bestEffort, lacking(shortages, [...second, ...first], counting), counting);
  return { victims: [...third, ...second, ...first] };
}

/** What is still short when these have gone. */
export function lacking(
  shortages: readonly Shortage[],
  gone: readonly Pod[],
  { requestOf }: Counting = AS_BEFORE,
): Shortage[] {
  return shortages.flatMap(({ resource, amount }) => {
    const left = gone.reduce((sum, pod) => sum - requestOf(pod, resource), amount);
    return left > 0 ? [{ resource, amount: left }] : [];
  });
}

/** How far a pod's requests are from what is short: the sum of the squared shares that it leaves open. */
export function distance(shortages: readonly Shortage[], pod: Pod, { requestOf }: Counting = AS_BEFORE): number {
  return shortages.reduce((sum, { resource, amount }) => {
    const left = amount - requestOf(pod, resource);
    return left > 0 ? sum + (left / amount) ** 2 : sum;
  }, 0);
}

/** Does the first ask for no more than the second: memory, then cpu? */
export function asksForNoMore(first: Pod, second: Pod, { requestOf }: Counting = AS_BEFORE): boolean {
  for (const resource of ['memory', 'cpu']) {
    const [a, b] = [requestOf(first, resource), requestOf(second, resource)];
    if (a !== b) return a < b;
  }
  return true;
}

/** A critical pod displaces those that are not; else the higher priority counts (kubelet Preemptable). */
export function mayPreempt(preemptor: Pod, other: Pod): boolean {
  if (isCriticalPod(preemptor) && !isCriticalPod(other)) return true;
  const [mine, theirs] = [preemptor.spec?.priority, other.spec?.priority];
  return mine !== undefined && theirs !== undefined && mine > theirs;
}

/** Pods of one class, one after the other the one that comes closest to what is then short. They are enough. */
function nearest(pods: readonly Pod[], shortages: Shortage[], counting: Counting): Pod[] {
  const chosen: Pod[] = [];
  const left = [...pods];
  for (let short = shortages; short.length > 0 && left.length > 0;) {
    let best = 0;
    let least = Infinity;
    for (const [i, pod] of left.entries()) {
      const far = distance(short, pod, counting);
      if (far > least || (far === least && !asksForNoMore(pod, left[best] ?? pod, counting))) continue;
      [best, least] = [i, far];
    }
    const [taken] = left.splice(best, 1);
    if (taken === undefined) break;
    if (counting.lastTakesPlace) left.splice(best, 0, ...left.splice(-1));
    chosen.push(taken);
    short = lacking(short, [taken], counting);
  }
  return chosen;
}

/** How requests count when pods are chosen. */
export interface Counting {
  /** Milli cores of cpu, bytes or counts of the rest; of pods a pod asks for one. */
  requestOf: (pod: Pod, resource: string) => number;
  /** The last of those that are left takes the place of one that was chosen, which decides among equals. */
  lastTakesPlace: boolean;
}

/** All that the node counts of a pod. */
const AS_BEFORE: Counting = {
  requestOf: (pod, resource) => amountIn(resource, podRequests(pod)[resource]),
  lastTakesPlace: false,
};

/** As kubelet counts here (GetResourceRequest): of a pod with resources of its own only these, and overhead only beside a request. */
export const AS_KUBELET: Counting = {
  requestOf: (pod, resource) => {
    const own = hasPodLevelResources(pod)
      ? amountsOf(pod.spec?.resources?.requests)[resource]
      : podRequests(pod, { excludeOverhead: true })[resource];
    const request = own ?? 0n;
    return amountIn(resource, request === 0n ? 0n : request + (amountsOf(pod.spec?.overhead)[resource] ?? 0n));
  },
  lastTakesPlace: true,
};

function amountIn(resource: string, amount: bigint | undefined): number {
  if (resource === 'pods') return 1;
  return resource === 'cpu' ? milli(amount) : units(amount);
}

function spoken(shortages: readonly Shortage[]): string {
  return `[${shortages.map(({ resource, amount }) => `(res: ${resource}, q: ${amount}), `).join('')}]`;
}
