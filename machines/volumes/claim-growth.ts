import type { PersistentVolumeClaim } from '../protocol/storage-types.ts';
import { compareQuantities, isQuantity } from '../values/quantity.ts';

/** What a node may do for a volume that is to be larger. `storage`: the size that the volume has, or gets by that. */
export type ClaimGrowth =
  /** It is as large as the claim has it: this node has no part in it, or had it. */
  | { may: 'nothing'; storage: string }
  /** Somebody else's turn comes first: the controller's, or the user's. */
  | { may: 'wait'; resizeStatus: string }
  | {
      may: 'grow';
      storage: string;
      /** Whose resizer says nothing of its progress: the claim is told of the end only. */
      silent: boolean;
      /** The claim has the size, by another node: nothing of it is told. */
      told: boolean;
      /** The claim asks for another size by now: a failure is to end this one. */
      overtaken: boolean;
    };

/** A claim whose nodes all have a part in its growth says so unless it has this annotation. */
const NOT_ON_NODES = 'volume.kubernetes.io/node-expansion-not-required';

/**
 * May the node make a claim's volume larger now (kubelet: checkForRecoveryFromExpansion, NodeExpander.runPreCheck)? The controller says in the claim's
 * status when it is the node's turn, and for which size.
 *
 * @param pvStorage what the PV says that it has
 * @param failedBefore a growth of this volume has failed on this node
 */
export function claimGrowth(
  { metadata, spec, status }: PersistentVolumeClaim,
  pvStorage: string,
  failedBefore: boolean,
): ClaimGrowth {
  const resizeStatus = status?.allocatedResourceStatuses?.['storage'] ?? '';
  const capacity = status?.capacity?.['storage'];
  if (resizeStatus === '' && status?.allocatedResources === undefined)
    return { may: 'grow', storage: pvStorage, silent: true, told: isAtLeast(capacity, pvStorage), overtaken: false };
  const storage = status?.allocatedResources?.['storage'] ?? pvStorage;
  const told = resizeStatus === '' && isAtLeast(capacity, storage);
  const asked = spec?.resources?.requests?.['storage'];
  const overtaken = failedBefore && !(isAtLeast(asked, storage) && isAtLeast(storage, asked ?? '0'));
  const grow = { may: 'grow', storage, silent: false, told, overtaken } as const;
  if (told) {
    const everywhere =
      (spec?.accessModes ?? []).includes('ReadWriteMany') && metadata?.annotations?.[NOT_ON_NODES] === undefined;
    return everywhere ? grow : { may: 'nothing', storage };
  }
  return resizeStatus === 'NodeResizePending' || resizeStatus === 'NodeResizeInProgress'
    ? grow
    : { may: 'wait', resizeStatus };
}

/** Has a claim, or a volume, at least this size? What is no quantity is none. */
export function isAtLeast(size: string | undefined, other: string): boolean {
  return compareQuantities(quantity(size), quantity(other)) >= 0;
}

function quantity(text = '0'): string {
  return isQuantity(text) ? text : '0';
}
