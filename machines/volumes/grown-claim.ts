import type { PersistentVolumeClaim } from '../protocol/storage-types.ts';
import { rfc3339 } from '../values/rfc3339.ts';

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

/**
 * Patch of the status of a claim whose volume the node begins to make larger (kubelet: MarkNodeExpansionInProgress); null where it says so already.
 * It is of this version of the claim only.
 */
export function growingClaimPatch({ metadata, status }: PersistentVolumeClaim): object | null {
  if (status?.allocatedResourceStatuses?.['storage'] === 'NodeResizeInProgress') return null;
  return {
    metadata: { resourceVersion: metadata?.resourceVersion },
    status: { allocatedResourceStatuses: { storage: 'NodeResizeInProgress' } },
  };
}

/**
 * Patch of the status of a claim whose volume the node could not make larger (kubelet: MarkNodeExpansionInfeasible, MarkNodeExpansionFailedCondition);
 * null where it says so already. `infeasible`: it is not tried again; the controller's turn is next.
 */
export function failedGrowthPatch(
  { status }: PersistentVolumeClaim,
  { infeasible, text, at }: { infeasible: boolean; text: string; at: number },
): object | null {
  const known = status?.conditions?.some((each) => each.type === 'NodeResizeError' && each.status === 'True');
  if (known && !infeasible) return null;
  const condition = {
    ...{ type: 'NodeResizeError', status: 'True', lastTransitionTime: rfc3339(at) },
    message: `failed to expand pvc with ${text}`,
  };
  return {
    status: {
      ...(infeasible && { allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' } }),
      ...(!known && { conditions: [condition] }),
    },
  };
}
