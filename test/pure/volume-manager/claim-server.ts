import type { StorageObjects } from '../../../actors/resources/volumes/resolve-volume.ts';
import type { PersistentVolumeClaim } from '../../../machines/protocol/storage-types.ts';

type Status = NonNullable<PersistentVolumeClaim['status']>;
interface Patch {
  metadata?: { resourceVersion?: string };
  status: {
    capacity?: Record<string, string>;
    allocatedResourceStatuses?: Record<string, string | null>;
    conditions?: (NonNullable<Status['conditions']>[number] & { $patch?: 'delete' })[];
  };
}

/** An API server with one claim, of which patches of its status are strategic merges. */
export class ClaimServer {
  /** Resize status, size, or else condition that each patch has set. */
  readonly told: string[] = [];
  /** So many patches are refused. */
  conflicts = 0;
  private version = 1;
  private readonly now: PersistentVolumeClaim;

  constructor(claim: PersistentVolumeClaim) {
    this.now = claim;
  }

  readonly objects: StorageObjects = {
    claim: () => Promise.resolve(this.claim()),
    volume: () => Promise.reject(new Error('not here')),
    patchClaim: (_claim, patch) => this.patch(patch as Patch),
  };

  claim(): PersistentVolumeClaim {
    const { metadata, ...rest } = structuredClone(this.now);
    return { ...rest, metadata: { ...metadata, resourceVersion: String(this.version) } };
  }

  /** Somebody else changes it. */
  change(status: Status): void {
    this.version++;
    this.now.status = { ...this.now.status, ...status };
  }

  private patch({ metadata, status }: Patch): Promise<PersistentVolumeClaim> {
    const version = metadata?.resourceVersion ?? String(this.version);
    if (version !== String(this.version) || this.conflicts-- > 0) return Promise.reject(new Error('conflict'));
    const was = this.now.status ?? {};
    const statuses: Record<string, string | null> = { ...was.allocatedResourceStatuses };
    Object.assign(statuses, status.allocatedResourceStatuses);
    const { storage, ...others } = statuses;
    const conditions = new Map((was.conditions ?? []).map((each) => [each.type, each]));
    for (const { $patch, ...each } of status.conditions ?? [])
      if ($patch === 'delete') conditions.delete(each.type);
      else conditions.set(each.type, each);
    this.change({
      capacity: { ...was.capacity, ...status.capacity },
      allocatedResourceStatuses: { ...others, ...(storage != null && { storage }) } as Record<string, string>,
      conditions: [...conditions.values()],
    });
    this.told.push(
      status.capacity?.['storage'] ??
        status.allocatedResourceStatuses?.['storage'] ??
        status.conditions?.[0]?.type ??
        'nothing',
    );
    return Promise.resolve(this.claim());
  }
}
