import type { Decision } from '../machine-step/act.ts';
import { readinessErrors } from '../node-object/ready-message.ts';
import type { RuntimeHealth } from '../node-object/ready-message.ts';
import type { NodeContext, NodeStateName, NodeMessage, NodeOrder } from './node-context.ts';

/** One message: what is known after it, the state that follows from that, and what the host is to do. */
export function decideNode(before: NodeContext, message: NodeMessage): Decision<NodeContext, NodeOrder> {
  const known = take(before, message);
  const context = { ...known, reasons: reasonsOf(known) };
  const [from, to] = [before.focus, stateOf(context)];
  return {
    patch: { ...context, focus: to },
    effects: ordersOf(before, context, message),
    ...(from !== to && { move: { from, to } }),
  };
}

function take(context: NodeContext, message: NodeMessage): NodeContext {
  switch (message.type) {
    case 'node.start': {
      const { nodeName, agent, cluster, at } = message;
      return { ...context, nodeName, agent, cluster, startedAt: at, registered: !cluster };
    }
    case 'runtime.state': {
      const { runtimeReady, networkReady, messages, quiet } = message;
      return { ...context, runtime: { runtimeReady, networkReady, messages, ...(quiet === true && { quiet }) } };
    }
    case 'pleg.state':
      return { ...context, pleg: message.problem ?? '' };
    case 'sources.ready':
      return { ...context, sourcesReady: true };
    case 'node.registered':
      return { ...context, registered: true };
    case 'node.stop':
      return { ...context, stopping: true };
  }
}

function reasonsOf({ runtime, pleg }: NodeContext): string[] {
  if (runtime === null) return [];
  return readinessErrors({ runtime, plegError: pleg === '' ? null : pleg });
}

/** What stands in the way first, in the order in which kubelet names its errors: runtime, PLEG, network. */
function stateOf({ runtime, pleg, cluster, registered, sourcesReady, stopping }: NodeContext): NodeStateName {
  if (stopping) return 'shuttingDown';
  if (runtime === null || pleg === null) return 'starting';
  // Only a runtime that answers has a word about its network.
  const quiet = runtime.quiet === true;
  if (!runtime.runtimeReady && runtime.messages.some((m) => m.startsWith('container runtime not ready')))
    return 'notReady.runtimeNotReady';
  if (!runtime.runtimeReady && !quiet) return 'notReady.runtimeDown';
  if (pleg !== '') return 'notReady.plegUnhealthy';
  // One that is quiet has its messages of before: of its network, if of anything.
  if (quiet ? runtime.messages.length > 0 : !runtime.networkReady) return 'notReady.networkNotReady';
  if (cluster && !registered) return 'ready.registering';
  return sourcesReady ? 'ready.running' : 'ready.waitingForSources';
}

function ordersOf(before: NodeContext, after: NodeContext, message: NodeMessage): NodeOrder[] {
  const orders: NodeOrder[] = [];
  const was: RuntimeHealth = before.runtime ?? { runtimeReady: false, networkReady: false, messages: [] };
  const is = after.runtime ?? was;
  const flipped = was.runtimeReady !== is.runtimeReady || was.networkReady !== is.networkReady;
  if ((flipped && is.quiet !== true) || isWell(before) !== isWell(after)) orders.push({ type: 'status.post' });
  if (message.type !== 'runtime.state' || !flipped) return orders;
  const { runtimeReady, networkReady } = is;
  orders.push({ type: 'pods.tellRuntime', runtimeReady, networkReady });
  if (runtimeReady) orders.push({ type: 'pods.observe' });
  return orders;
}

function isWell({ runtime, reasons }: NodeContext): boolean {
  return runtime !== null && reasons.length === 0;
}
