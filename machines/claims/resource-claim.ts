/** A ResourceClaim (resource.k8s.io/v1), as far as the node reads it. */
export interface ResourceClaim {
  metadata?: { uid?: string; ownerReferences?: { uid?: string; controller?: boolean }[] };
  status?: {
    reservedFor?: { uid?: string }[];
    allocation?: { devices?: { results?: AllocatedDevice[] } };
  };
}

/** A device that the scheduler gave to a claim (`DeviceRequestAllocationResult`). */
export interface AllocatedDevice {
  driver?: string;
  /** Of the claim, with the name of the subrequest behind a `/` where it has some. */
  request?: string;
  pool?: string;
  device?: string;
  /** Which share of a device that several claims use. */
  shareID?: string;
}
