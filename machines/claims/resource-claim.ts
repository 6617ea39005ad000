/** A ResourceClaim (resource.k8s.io/v1), as far as the node reads it. */
export interface ResourceClaim {
  metadata?: { uid?: string; ownerReferences?: { uid?: string; controller?: boolean }[] };
  status?: {
    reservedFor?: { uid?: string }[];
    allocation?: { devices?: { results?: { driver?: string }[] } };
  };
}
