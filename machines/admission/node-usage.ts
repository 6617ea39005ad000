import type { Pod } from '../protocol/api-types.ts';
import { atUid, withUid, withoutUid } from '../supervisor/uid-table.ts';
import type { UidTable } from '../supervisor/uid-table.ts';
import { allocatedRequests } from './allocated-requests.ts';
import { hostPorts, portsConflict } from './host-ports.ts';
import type { HostPort } from './host-ports.ts';
import { NO_RESOURCES, addResources, countedResources } from './counted-resources.ts';
import type { CountedResources } from './counted-resources.ts';

/** What one pod holds of the node. */
export interface Share {
  resources: CountedResources;
  ports: readonly HostPort[];
}

/**
 * What the node's active pods hold, kept up pod by pod so that admission need not add them all up each time; plain JSON.
 * Active (kubelet: GetActivePods) is every admitted pod until it has fully terminated: neither of a terminal phase at
 * its arrival nor rejected, but also one that is being terminated.
 */
export interface NodeUsage {
  readonly shares: UidTable<Share>;
  /** How many pods are counted. */
  readonly pods: number;
  /** The sum of all shares. */
  readonly total: CountedResources;
  /** Pods that hold ports of the node, by uid; most hold none. */
  readonly withPorts: Readonly<Record<string, readonly HostPort[]>>;
}

/** Nobody holds anything. */
export const NO_USAGE: NodeUsage = { shares: {}, pods: 0, total: NO_RESOURCES, withPorts: {} };

/** The usage of a list of pods. */
export function usageOf(pods: Iterable<Pod>): NodeUsage {
  let usage = NO_USAGE;
  for (const pod of pods) usage = withPod(usage, pod);
  return usage;
}

/** With a pod; one that is counted already is counted by its new values (after a resize). */
export function withPod(usage: NodeUsage, pod: Pod): NodeUsage {
  const resources = countedResources(allocatedRequests(pod));
  return withShare(usage, pod.metadata?.uid ?? '', { resources, ports: hostPorts(pod) });
}

/** With this share of a pod, instead of the one that it had. */
export function withShare(usage: NodeUsage, uid: string, share: Share): NodeUsage {
  if (JSON.stringify(atUid(usage.shares, uid)) === JSON.stringify(share)) return usage;
  const { shares, pods, total, withPorts } = withoutPod(usage, uid);
  return {
    shares: withUid(shares, uid, share),
    pods: pods + 1,
    total: addResources(total, share.resources, 1),
    withPorts: share.ports.length > 0 ? { ...withPorts, [uid]: share.ports } : withPorts,
  };
}

/** Without a pod; it need not be counted. */
export function withoutPod(usage: NodeUsage, uid: string): NodeUsage {
  const share = atUid(usage.shares, uid);
  if (share === undefined) return usage;
  const { [uid]: ports, ...others } = usage.withPorts;
  return {
    shares: withoutUid(usage.shares, uid),
    pods: usage.pods - 1,
    total: addResources(usage.total, share.resources, -1),
    withPorts: ports === undefined ? usage.withPorts : others,
  };
}

/** Is the pod counted? */
export function isCounted({ shares }: NodeUsage, uid: string): boolean {
  return atUid(shares, uid) !== undefined;
}

/** Pods that are counted, without one of that uid. */
export function podsWithout(usage: NodeUsage, uid: string): number {
  return usage.pods - (isCounted(usage, uid) ? 1 : 0);
}

/** What all pods hold, without one of that uid. */
export function resourcesWithout({ shares, total }: NodeUsage, uid: string): CountedResources {
  const share = atUid(shares, uid);
  return share === undefined ? total : addResources(total, share.resources, -1);
}

/** Does another pod than that of the uid hold one of the ports? */
export function holdsAny({ withPorts }: NodeUsage, ports: readonly HostPort[], uid: string): boolean {
  if (ports.length === 0) return false;
  return Object.entries(withPorts).some(
    ([other, taken]) => other !== uid && taken.some((a) => ports.some((b) => portsConflict(a, b))),
  );
}
