import { attachmentName } from '../../../../actors/resources/csi/csi-names.ts';
import type { CsiDriver, VolumeAttachment } from '../../../../machines/csi/storage-objects.ts';
import type { NodeDriver } from '../../../../machines/csi/node-drivers.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../../machines/protocol/storage-types.ts';
import type { ClaimPlan, CsiDriverPlan } from '../../draw/plan.ts';
import { NODE_NAME } from '../node-settings.ts';

const GIB = 2 ** 30;

/** The objects of storage that the API server has: those of plans, and what the attach controller and the agent write. */
export class StorageObjects {
  readonly claims: readonly ClaimPlan[];
  readonly drivers: ReadonlyMap<string, CsiDriverPlan>;
  /** VolumeAttachments by name. */
  readonly attachments = new Map<string, VolumeAttachment>();
  /** What the node's status says. */
  readonly nodeStatus: { volumesInUse: string[]; volumesAttached: { name: string; devicePath: string }[] } = {
    volumesInUse: [],
    volumesAttached: [],
  };
  /** Of the node's object. */
  marks: { labels: Record<string, string>; annotations: Record<string, string | null> } = {
    labels: {},
    annotations: {},
  };
  /** Drivers that the node's CSINode names, and how often it was written. */
  csiNode: { drivers: NodeDriver[]; version: number } = { drivers: [], version: 1 };
  /** How often each claim's volume has grown, and has its status told so. */
  private readonly grown = new Map<string, { volume: number; status: number }>();
  private readonly now: () => number;

  constructor(claims: readonly ClaimPlan[], drivers: readonly CsiDriverPlan[], now: () => number) {
    this.claims = claims;
    this.drivers = new Map(drivers.map((driver) => [driver.name, driver]));
    this.now = now;
  }

  /** The volume behind a claim has grown. */
  grow(name: string): void {
    const { volume, status } = this.sizes(name);
    this.grown.set(name, { volume: volume + 1, status });
  }

  /** Its claim's status says so, too. */
  grownNow(name: string): void {
    const { volume } = this.sizes(name);
    this.grown.set(name, { volume, status: volume });
  }

  sizes(name: string): { volume: number; status: number } {
    return this.grown.get(name) ?? { volume: 0, status: 0 };
  }

  claim(name: string): PersistentVolumeClaim | null {
    const plan = this.claims.find((each) => each.name === name);
    if (plan === undefined) return null;
    const metadata = {
      namespace: 'default',
      name,
      uid: `uid-of-${name}`,
      finalizers: ['kubernetes.io/pvc-protection'],
    };
    if (this.now() < plan.boundAt) return { metadata, spec: {}, status: { phase: 'Pending' } };
    const storage = String((1 + this.sizes(name).status) * GIB);
    return { metadata, spec: { volumeName: pvOf(name) }, status: { phase: 'Bound', capacity: { storage } } };
  }

  volume(name: string): PersistentVolume | null {
    const plan = this.claims.find((each) => pvOf(each.name) === name);
    if (plan === undefined) return null;
    return {
      metadata: { name },
      spec: {
        accessModes: [plan.mode],
        volumeMode: plan.block ? 'Block' : 'Filesystem',
        capacity: { storage: String((1 + this.sizes(plan.name).volume) * GIB) },
        claimRef: { namespace: 'default', name: plan.name, uid: `uid-of-${plan.name}` },
        csi: {
          driver: plan.driver,
          volumeHandle: handleOf(plan.name),
          fsType: 'ext4',
          volumeAttributes: { of: plan.name },
        },
      },
    };
  }

  driver(name: string): CsiDriver | null {
    const plan = this.drivers.get(name);
    if (plan === undefined) return null;
    return {
      metadata: { name },
      spec: {
        attachRequired: plan.attaches,
        podInfoOnMount: true,
        requiresRepublish: plan.republishes,
        fsGroupPolicy: 'None',
        ...(plan.labels && { seLinuxMount: true }),
        volumeLifecycleModes: ['Persistent', 'Ephemeral'],
      },
    };
  }

  /** Name of the attachment of a claim's volume to this node. */
  attachmentOf({ name, driver }: ClaimPlan): string {
    return attachmentName(handleOf(name), driver, NODE_NAME);
  }
}

/** Name of the volume behind a claim. */
export const pvOf = (claim: string): string => `pv-${claim}`;

/** How its driver calls it. */
export const handleOf = (claim: string): string => `vol-${claim}`;

/** Kubelet's unique name of it. */
export const deviceOf = ({ name, driver }: ClaimPlan): string => `kubernetes.io/csi/${driver}^${handleOf(name)}`;
