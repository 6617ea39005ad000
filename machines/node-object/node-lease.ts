/** A `coordination.k8s.io/v1` Lease, as far as a node's heartbeat uses it. */
export interface Lease {
  apiVersion: 'coordination.k8s.io/v1';
  kind: 'Lease';
  metadata: {
    name: string;
    namespace: string;
    resourceVersion?: string;
    uid?: string;
    ownerReferences?: OwnerReference[];
    [field: string]: unknown;
  };
  spec: { holderIdentity?: string; leaseDurationSeconds?: number; renewTime?: string; [field: string]: unknown };
}

/** `metav1.OwnerReference`. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
}

/** Namespace of all nodes' leases. */
export const LEASE_NAMESPACE = 'kube-node-lease';

/** The node as the owner of an object, which then goes with it. */
export function ownedByNode(name: string, uid: string): OwnerReference {
  return { apiVersion: 'v1', kind: 'Node', name, uid };
}

/** `metav1.MicroTime`. */
export function microTime(ms: number): string {
  const whole = Math.floor(ms);
  const micros = Math.floor((ms - whole) * 1000);
  return `${new Date(whole).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z`;
}

/** The lease to create or to renew: `base` is the last one known, whose owner stays when it has one. */
export function renewedLease(
  base: Lease | null,
  node: { name: string; uid: string },
  durationSeconds: number,
  now: number,
): Lease {
  const owners = base?.metadata.ownerReferences ?? [];
  return {
    ...base,
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      ...base?.metadata,
      name: node.name,
      namespace: LEASE_NAMESPACE,
      ownerReferences: owners.length > 0 ? owners : [ownedByNode(node.name, node.uid)],
    },
    spec: {
      ...base?.spec,
      // Given at each renewal: the configuration may have changed since the lease was made.
      holderIdentity: node.name,
      leaseDurationSeconds: durationSeconds,
      renewTime: microTime(now),
    },
  };
}
