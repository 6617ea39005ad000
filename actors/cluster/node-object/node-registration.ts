import { adoptNode } from '../../../machines/node-object/compare-node.ts';
import { initialNode } from '../../../machines/node-object/initial-node.ts';
import type { Node, NodeEvent, NodeObjectConfig } from '../../../machines/node-object/node-types.ts';
import type { FoundPatch } from '../../../machines/node-object/object-messages.ts';
import type { NodeFacts, NodeStep } from '../../../machines/node-object/set-node-status.ts';
import type { ApiClient, ApiRequest } from '../api/api-client.ts';

/** Where node objects are. */
export const NODES = { group: '', version: 'v1', resource: 'nodes' };

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

/** An object that was there before the node registered. */
export interface AdoptedNode {
  existing: Node;
  /** The patch that makes it this node's; undefined when it is. */
  patch: Record<string, unknown> | undefined;
  found: FoundPatch | null;
  events: NodeEvent[];
}

/** One try to register: which way it goes is decided by `machines/node-object/object-machine.ts`. */
export class Registration {
  private readonly calls: NodeCalls;
  private readonly config: NodeObjectConfig;
  private readonly facts: NodeFacts;
  private readonly now: number;
  private readonly initial: NodeStep;

  /** @param now ms since the epoch: the time of the status */
  constructor(calls: NodeCalls, config: NodeObjectConfig, facts: NodeFacts, now: number) {
    this.calls = calls;
    this.config = config;
    this.facts = facts;
    this.now = now;
    this.initial = initialNode(config, facts, now);
  }

  /** Events of an object that is made anew. */
  get events(): NodeEvent[] {
    return this.initial.events;
  }

  /** POST with the status of now, so that a ready node is ready with this one call. Rejects with ApiStatusError. */
  post(): Promise<Node> {
    return callNode(this.calls, { method: 'POST', body: this.initial.node });
  }

  /** Reads the object that is there, and compares. Rejects with ApiStatusError. */
  async adopt(): Promise<AdoptedNode> {
    const { config, facts, now, initial } = this;
    const existing = await callNode(this.calls, { method: 'GET', name: config.nodeName });
    const step = adoptNode(initial.node, existing, config, facts, now);
    // kubelet tells the pressures at each start, since its first object begins without conditions.
    const told = new Set(step.events.map((event) => event.reason));
    const others = initial.events.filter((event) => event.reason !== 'NodeReady' && !told.has(event.reason));
    return { existing, ...step, events: [...others, ...step.events] };
  }
}

/** Writes labels, annotations and status of the node. Rejects with ApiStatusError. */
export function patchNode(calls: NodeCalls, name: string, body: unknown): Promise<Node> {
  return callNode(calls, { method: 'PATCH', name, subresource: 'status', body });
}
