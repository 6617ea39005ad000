import type { PersistentVolumeClaim } from '../protocol/storage-types.ts';

/** Conditions that tell of a growth; they go when it is done. */
const OF_GROWTH: ReadonlySet<string> = new Set([
  ...['FileSystemResizePending', 'Resizing', 'ControllerResizeError', 'NodeResizeError'],
]);

/**
 * Strategic merge patch of the status of a claim whose volume the node has made larger (kubelet: MarkNodeExpansionFinishedWithRecovery).
 * It is of this version of the claim only.
 *
 * @param storage what the PV says that it has now
 */
export function grownClaimPatch({ metadata, status }: PersistentVolumeClaim, storage: string): object {
  const ended = (status?.conditions ?? []).filter(({ type }) => OF_GROWTH.has(type));
  return {
    metadata: { resourceVersion: metadata?.resourceVersion },
    status: {
      capacity: { storage },
      ...(status?.allocatedResourceStatuses?.['storage'] !== undefined && {
        allocatedResourceStatuses: { storage: null },
      }),
      ...(ended.length > 0 && { conditions: ended.map(({ type }) => ({ $patch: 'delete', type })) }),
    },
  };
}
