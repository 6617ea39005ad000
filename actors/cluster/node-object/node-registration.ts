import type { Logger } from 'pino';
import { initialNode } from '../../../machines/node-object/initial-node.ts';
import { nodePatch } from '../../../machines/node-object/node-patch.ts';
import type { Node, NodeEvent, NodeObjectConfig } from '../../../machines/node-object/node-types.ts';
import { reconcileNode } from '../../../machines/node-object/reconcile-node.ts';
import { setNodeStatus } from '../../../machines/node-object/set-node-status.ts';
import type { NodeFacts } from '../../../machines/node-object/set-node-status.ts';
import { ApiStatusError } from '../api/api-client.ts';
import type { ApiClient, ApiRequest } from '../api/api-client.ts';

/** Where node objects are. */
export const NODES = { group: '', version: 'v1', resource: 'nodes' };

/** A registered node. */
export interface Registered {
  node: Node;
  /** There was none before. */
  created: boolean;
  events: NodeEvent[];
}

/** How calls about the node object are made. */
export interface NodeCalls {
  api: ApiClient;
  signal: AbortSignal;
  timeoutMs: number;
}

/** Sends a request about the node object; what it answers comes without `managedFields`. */
export async function callNode(calls: NodeCalls, request: Omit<ApiRequest, 'on'>): Promise<Node> {
  const { api, ...limits } = calls;
  return withoutManagedFields(await api.request<Node>({ on: NODES, ...limits, ...request }));
}

/** The same object, its `managedFields` taken out: they are half of it and nobody here reads them. */
function withoutManagedFields(node: Node): Node {
  if (node.metadata !== undefined) delete node.metadata.managedFields;
  return node;
}

/**
 * One try to register: POST with the status of now, so that a ready node is ready with this one call. An object that
 * exists is reconciled and gets its new status in one PATCH. Rejects with ApiStatusError.
 */
export async function registerNode(
  calls: NodeCalls,
  config: NodeObjectConfig,
  facts: NodeFacts,
  now: number,
  log: Logger,
): Promise<Registered> {
  const initial = initialNode(config, facts, now);
  try {
    const node = await callNode(calls, { method: 'POST', body: initial.node });
    return { node, created: true, events: initial.events };
  } catch (error) {
    if (!(error instanceof ApiStatusError)) throw error;
    // A node that may not create its object may still find one that somebody made for it.
    if (error.reason !== 'AlreadyExists' && error.status !== 403) throw error;
    if (error.status === 403) log.error({ err: error }, 'Unable to register node with API server, reason is forbidden');
  }
  const name = config.nodeName;
  const existing = await callNode(calls, { method: 'GET', name });
  log.info({ node: name }, 'Node was previously registered');
  const step = setNodeStatus(reconcileNode(initial.node, existing), config, facts, now);
  const patch = nodePatch(existing, step.node);
  const node =
    patch === undefined
      ? existing
      : await callNode(calls, { method: 'PATCH', name, subresource: 'status', body: patch });
  // kubelet tells the pressures at each start, since its first object begins without conditions.
  const told = new Set(step.events.map((event) => event.reason));
  const others = initial.events.filter((event) => event.reason !== 'NodeReady' && !told.has(event.reason));
  return { node, created: false, events: [...others, ...step.events] };
}
