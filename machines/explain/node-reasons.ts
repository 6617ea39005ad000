import type { NodeContext, NodeStateName } from '../node/node-context.ts';
import { NODE_UID } from '../node/node-context.ts';
import type { Cause, CauseKind, Explanation } from './explanation.ts';
import { short } from './words.ts';
import { span } from '../values/spoken-time.ts';

/** The node at a moment, with since when it is in its state. */
export interface NodePlace {
  context: NodeContext;
  /** ms since the epoch. */
  since: number;
}

/** Why the node is in its state: one entry for each state of its chart. */
export const NODE_REASONS: Readonly<Record<NodeStateName, { text: string; kind: CauseKind }>> = {
  starting: { text: 'the agent has begun: runtime and PLEG have not been asked yet', kind: 'agent' },
  'notReady.runtimeDown': { text: 'the container runtime does not answer', kind: 'runtime' },
  'notReady.runtimeNotReady': { text: 'the container runtime answers, and says that it is not ready', kind: 'runtime' },
  'notReady.plegUnhealthy': { text: 'the list of what runs could not be read for a long time', kind: 'runtime' },
  'notReady.networkNotReady': { text: 'the network of the container runtime (CNI) is not ready', kind: 'network' },
  'ready.registering': { text: "the API server does not have the node's object yet", kind: 'node' },
  'ready.waitingForSources': {
    text: 'not every source of pods has spoken: pods run, and nothing is removed from the node',
    kind: 'source',
  },
  'ready.running': { text: 'the node is ready: it waits for nothing', kind: 'node' },
  shuttingDown: { text: 'the agent ends; pods go on without it', kind: 'agent' },
};

/** The node stays what it was meanwhile, so since when it is in its state says nothing of this. */
const QUIET: Cause = {
  at: 0,
  text: 'the container runtime does not answer; it did within the last half minute',
  kind: 'runtime',
};

/** Why the node is in its state. */
export function explainNode({ context, since }: NodePlace, now: number): Explanation {
  const { focus, reasons, nodeName, agent, startedAt } = context;
  const { text, kind } = NODE_REASONS[focus];
  const causes: Cause[] = [
    { at: since, text, kind },
    ...(context.runtime?.quiet === true ? [QUIET] : []),
    ...reasons.map((reason): Cause => ({ at: since, text: `Ready is False: ${short(reason)}`, kind: 'node' })),
    {
      at: startedAt,
      text: `actorlet ${agent} began${context.cluster ? '' : ', without an API server'}`,
      kind: 'agent',
    },
  ];
  return {
    pod: { namespace: '', name: nodeName, uid: NODE_UID },
    state: focus,
    since,
    sinceAtLeast: false,
    now,
    gone: false,
    summary: `the node ${nodeName} is in ${focus} since ${span(now - since)}: ${text}${reasons.length === 0 ? '' : ` (${short(reasons.join(', '))})`}`,
    causes: causes.map((cause) => ({ ...cause, at: Math.min(cause.at, now) })),
  };
}

/** What the node has to do with a pod that waits for runtime or network; null when it is well, or nothing is known of it. */
export function nodeCause(node: NodePlace | undefined): Cause | null {
  if (node === undefined) return null;
  const { focus, reasons, runtime } = node.context;
  if (runtime?.quiet === true) return QUIET;
  if (!focus.startsWith('notReady.')) return null;
  return { at: node.since, text: `the node is not ready (${focus}): ${short(reasons.join(', '))}`, kind: 'node' };
}
