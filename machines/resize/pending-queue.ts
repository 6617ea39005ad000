import type { Pod } from '../protocol/api-types.ts';
import { podRequests } from '../qos/pod-resources.ts';
import { podQosClass } from '../qos/qos-class.ts';

/** A pod whose resize waits. */
export interface PendingResize {
  pod: Pod;
  /** As it runs: with what is allocated to it. */
  given: Pod;
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

function asksForMore({ pod, given }: PendingResize): boolean {
  if (given === pod) return false;
  const [before, after] = [podRequests(given), podRequests(pod)];
  return ['cpu', 'memory'].some((name) => (after[name] ?? 0n) > (before[name] ?? 0n));
}
