import { fingerprint } from '../values/fingerprint.ts';
import { isObject } from '../values/json-object.ts';
import { nodeMetadataHasChanged, nodePatch, nodeStatusHasChanged } from './node-patch.ts';
import type { Node, NodeEvent, NodeObjectConfig } from './node-types.ts';
import type { FoundPatch, NodeFinding } from './object-messages.ts';
import { reconcileNode } from './reconcile-node.ts';
import { setNodeStatus } from './set-node-status.ts';
import type { NodeFacts } from './set-node-status.ts';

/** What of the node's object is to be written, and the events that come with it. */
export interface ComparedNode {
  /** For `nodes/<name>/status`; undefined when there is nothing to write. */
  patch: Record<string, unknown> | undefined;
  events: NodeEvent[];
  finding: NodeFinding;
}

/** Compares the object with what the node knows of itself at `now`, ms since the epoch. */
export function compareNode(before: Node, config: NodeObjectConfig, facts: NodeFacts, now: number): ComparedNode {
  const { node, events } = setNodeStatus(before, config, facts, now);
  const changed = nodeStatusHasChanged(before.status ?? {}, node.status ?? {}) || nodeMetadataHasChanged(before, node);
  const patch = nodePatch(before, node);
  return { patch, events, finding: { changed, patch: foundPatch(patch) } };
}

/** The same of an object that a node finds when it registers. @param initial the object that it would have made */
export function adoptNode(
  initial: Node,
  existing: Node,
  config: NodeObjectConfig,
  facts: NodeFacts,
  now: number,
): Omit<ComparedNode, 'finding'> & { found: FoundPatch | null } {
  const { node, events } = setNodeStatus(
    reconcileNode(initial, existing, facts.devices?.machineIsNew === true),
    config,
    facts,
    now,
  );
  const patch = nodePatch(existing, node);
  return { patch, events, found: foundPatch(patch) };
}

function foundPatch(patch: Record<string, unknown> | undefined): FoundPatch | null {
  if (patch === undefined) return null;
  const { metadata = {}, status = {} } = patch as Record<'metadata' | 'status', Record<string, unknown> | undefined>;
  const { conditions, ...rest } = status;
  const told = (Array.isArray(conditions) ? conditions : []).flatMap((condition: unknown) =>
    isObject(condition) && Object.keys(condition).some((key) => key !== 'type' && key !== 'lastHeartbeatTime')
      ? [`conditions.${String(condition['type'])}`]
      : [],
  );
  const fields = [...Object.keys(metadata), ...Object.keys(rest).filter((key) => !key.startsWith('$')), ...told];
  return { print: fingerprint(JSON.stringify(patch)), fields };
}
