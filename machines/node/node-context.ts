import type { RuntimeHealth } from '../node-object/ready-message.ts';

/** Stands for the UID where the node itself is meant, beside pods; no pod has it. */
export const NODE_UID = '@node';

/** The node machine's memory; plain JSON. */
export interface NodeContext {
  nodeName: string;
  /** Version of the agent. */
  agent: string;
  /** It works with an API server. */
  cluster: boolean;
  /** When the agent began, ms since the epoch; 0 = not yet. */
  startedAt: number;
  /** What the runtime said of itself; null before it was asked. */
  runtime: RuntimeHealth | null;
  /** What PLEG says, '' when it is well; null before it was asked. */
  pleg: string | null;
  /** Every source of pods has spoken. */
  sourcesReady: boolean;
  /** The API server has the node's object. True without an API server. */
  registered: boolean;
  /** What keeps the node from being ready, in kubelet's words and order: the message of the Ready condition. */
  reasons: readonly string[];
  /** The agent is being stopped. */
  stopping: boolean;
  /** The state of the node as a dotted path (under this name journals have it). */
  focus: NodeStateName;
}

/** States of the node chart, as dotted paths. What may follow what: node-moves.ts. */
export type NodeStateName =
  | 'starting'
  | 'notReady.runtimeDown'
  | 'notReady.runtimeNotReady'
  | 'notReady.plegUnhealthy'
  | 'notReady.networkNotReady'
  | 'ready.registering'
  | 'ready.waitingForSources'
  | 'ready.running'
  | 'shuttingDown';

/** What reaches the node machine. `at`: ms since the epoch. */
export type NodeMessage =
  | { type: 'node.start'; at: number; nodeName: string; agent: string; cluster: boolean }
  /** The runtime's word of itself, as `runtimeHealthOf` has it. */
  | ({ type: 'runtime.state'; at: number } & RuntimeHealth)
  /** PLEG is well (`problem` null) or not. */
  | { type: 'pleg.state'; at: number; problem: string | null }
  /** All sources of pods have spoken. */
  | { type: 'sources.ready'; at: number }
  /** The API server has the node's object. */
  | { type: 'node.registered'; at: number }
  | { type: 'node.stop'; at: number };

/** What the node machine has its host do. */
export type NodeOrder =
  /** Tell every pod how the runtime is. */
  | { type: 'pods.tellRuntime'; runtimeReady: boolean; networkReady: boolean }
  /** Look at every pod: much may have happened while the runtime was away. */
  | { type: 'pods.observe' }
  /** The Ready condition changed: post the node's status now, not at its next time. */
  | { type: 'status.post' };

/** The node machine's context before anything happened. */
export function initialNode(): NodeContext {
  return {
    nodeName: '',
    agent: '',
    cluster: false,
    startedAt: 0,
    runtime: null,
    pleg: null,
    sourcesReady: false,
    registered: false,
    reasons: [],
    stopping: false,
    focus: 'starting',
  };
}
