import type { Node } from '../node-object/node-types.ts';
import type { Pod, PodStatus } from '../protocol/api-types.ts';
import type { PodAllocation } from '../resize/allocation.ts';
import type { PendingNote } from '../resize/resize-conditions.ts';
import type { UidTable } from '../supervisor/uid-table.ts';
import type { AdmissionRules } from './admission-rules.ts';
import { NO_USAGE } from './node-usage.ts';
import type { NodeUsage } from './node-usage.ts';
import { RESOURCE_MANAGERS } from './all-managers.ts';
import { bornManaged } from './resource-manager.ts';
import type { Managed, ResourceManager } from './resource-manager.ts';

/** Why waiting resizes are tried once more (label of `kubelet_pod_deferred_accepted_resizes_total`). */
export type RetryTrigger = 'pod_resized' | 'pod_updated' | 'pods_added' | 'pods_removed' | 'periodic_retry';

/** A pod that something is set aside for. */
export interface AllocatedPod {
  /** As its source wants it: its claim ({@link claimOf}). */
  desired: Pod;
  allocation: PodAllocation;
  /** Its resize waits. */
  pending: PendingNote | null;
  /** What the last status that its actor told says of what it holds ({@link statusClaim}). */
  status: PodStatus;
  resizing: boolean;
  /** It was resized once: what it holds changes with what its containers are seen to have. */
  resized: boolean;
  /** When the resize under way was allocated, ms since the epoch; 0 when it is over, or failed once. */
  since: number;
  terminal: boolean;
}

/** The memory of admission, plain JSON: what the node is, who holds what of it, and who waits for more. */
export interface AdmissionState {
  readonly rules: AdmissionRules;
  /** What admission looks at of the own Node; null while there is none. */
  readonly node: Node | null;
  /** Pods that were taken and have not ended. */
  readonly usage: NodeUsage;
  readonly pods: UidTable<AllocatedPod>;
  /** What the containers of pods have, as far as it was told. */
  readonly actuated: UidTable<PodAllocation>;
  /** What an earlier agent left of pods that did not come yet. */
  readonly before: UidTable<PodAllocation>;
  readonly actuatedBefore: UidTable<PodAllocation>;
  /** UIDs of pods that wait for a resize. */
  readonly waiting: readonly string[];
  /** Pods are ending for the resize of this one, and no other is looked at meanwhile; why resizes were looked at. */
  readonly making?: { readonly uid: string; readonly trigger: RetryTrigger } | null;
  /** Waiting resizes are about to be tried, for this reason. */
  readonly soon: RetryTrigger | null;
  readonly managed: Managed;
}

/** Nothing is known of any pod. */
export function bornAdmission(
  rules: AdmissionRules,
  managers: readonly ResourceManager[] = RESOURCE_MANAGERS,
): AdmissionState {
  const nothing = { node: null, usage: NO_USAGE, pods: {}, actuated: {}, before: {}, actuatedBefore: {} };
  return { rules, ...nothing, waiting: [], soon: null, managed: bornManaged(managers, rules) };
}
