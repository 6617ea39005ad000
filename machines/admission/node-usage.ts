import type { Pod } from '../protocol/api-types.ts';
import { allocatedRequests } from './allocated-requests.ts';
import { hostPorts, portsConflict } from './host-ports.ts';
import type { HostPort } from './host-ports.ts';
import { addResources, countedResources } from './counted-resources.ts';
import type { CountedResources } from './counted-resources.ts';

interface Share {
  resources: CountedResources;
  ports: HostPort[];
}

/**
 * Sum of what the node's active pods hold, kept up pod by pod so that admission need not add them all up each time.
 * Active (kubelet: GetActivePods) is every admitted pod until it has fully terminated: neither of a terminal phase at
 * its arrival nor rejected, but also one that is being terminated.
 */
export class NodeUsage {
  private readonly shares = new Map<string, Share>();
  private readonly total: CountedResources = { cpu: 0, memory: 0, ephemeralStorage: 0, scalars: new Map() };
  /** Pods that hold ports of the node, by uid; most hold none. */
  private readonly withPorts = new Map<string, HostPort[]>();

  /** The usage of a list of pods. */
  static of(pods: Iterable<Pod>): NodeUsage {
    const usage = new NodeUsage();
    for (const pod of pods) usage.addPod(pod);
    return usage;
  }

  /** Counts a pod from now on; one that is counted already is counted by its new values (after a resize). */
  addPod(pod: Pod): void {
    const uid = pod.metadata?.uid ?? '';
    this.removePod(uid);
    const share = { resources: countedResources(allocatedRequests(pod)), ports: hostPorts(pod) };
    this.shares.set(uid, share);
    addResources(this.total, share.resources, 1);
    if (share.ports.length > 0) this.withPorts.set(uid, share.ports);
  }

  /** Counts a pod no longer; it need not be counted. */
  removePod(uid: string): void {
    const share = this.shares.get(uid);
    if (!share) return;
    this.shares.delete(uid);
    this.withPorts.delete(uid);
    addResources(this.total, share.resources, -1);
  }

  /** Is the pod counted? */
  counts(uid: string): boolean {
    return this.shares.has(uid);
  }

  /** Pods that are counted, without one of that uid. */
  podsWithout(uid: string): number {
    return this.shares.size - (this.shares.has(uid) ? 1 : 0);
  }

  /** What all pods hold, without one of that uid. Do not change it. */
  resourcesWithout(uid: string): Readonly<CountedResources> {
    const share = this.shares.get(uid);
    if (!share) return this.total;
    const rest = { ...this.total, scalars: new Map(this.total.scalars) };
    addResources(rest, share.resources, -1);
    return rest;
  }

  /** Does another pod than that of the uid hold one of the ports? */
  holdsAny(ports: readonly HostPort[], uid: string): boolean {
    if (ports.length === 0) return false;
    for (const [other, taken] of this.withPorts) {
      if (other !== uid && taken.some((a) => ports.some((b) => portsConflict(a, b)))) return true;
    }
    return false;
  }
}
