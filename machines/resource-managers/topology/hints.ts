import type { NodeMask } from './node-mask.ts';

/** Where something could be had from. `nodes`: null when it does not matter. */
export interface TopologyHint {
  nodes: NodeMask | null;
  preferred: boolean;
}

/** A manager's hints by resource; null: it has no preference. An empty list: it cannot be had at all. */
export type ResourceHints = Readonly<Record<string, readonly TopologyHint[]>> | null;

/** Where a pod that runs can be by what it has of others (devices), by container; '' for the pod as a whole. */
export type HeldHints = Readonly<Record<string, ResourceHints>>;
