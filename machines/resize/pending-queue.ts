import type { Pod } from '../protocol/api-types.ts';
import { podRequests } from '../qos/pod-resources.ts';
import { podQosClass } from '../qos/qos-class.ts';
import { withAllocation } from './allocation.ts';
import type { PodAllocation } from './allocation.ts';

/** A pod whose resize waits. */
export interface PendingResize {
  pod: Pod;
  allocation: PodAllocation | undefined;
  /** What is asked for the whole pod is allocated, too. */
  podLevel?: boolean | undefined;
  /** When its PodResizePending condition was set, ms; null when it has none. */
  since: number | null;
}

/**
 * The order in which waiting resizes are tried (kubelet sortPendingResizes): first those that ask for no more, then by
 * priority, then guaranteed before other pods, then who waits longest.
 */
export function inOrderOfTurn(pending: readonly PendingResize[]): PendingResize[] {
  return [...pending].sort(
    (a, b) =>
      Number(asksForMore(a)) - Number(asksForMore(b)) ||
      (b.pod.spec?.priority ?? 0) - (a.pod.spec?.priority ?? 0) ||
      Number(isGuaranteed(b)) - Number(isGuaranteed(a)) ||
      (a.since ?? Infinity) - (b.since ?? Infinity) ||
      0,
  );
}

function isGuaranteed({ pod }: PendingResize): boolean {
  return podQosClass(pod) === 'Guaranteed';
}

function asksForMore({ pod, allocation, podLevel }: PendingResize): boolean {
  const given = withAllocation(pod, allocation, podLevel);
  if (given === pod) return false;
  const [before, after] = [podRequests(given), podRequests(pod)];
  return ['cpu', 'memory'].some((name) => (after[name] ?? 0n) > (before[name] ?? 0n));
}
