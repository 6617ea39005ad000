import type { AnyStateMachine, AnyStateNode } from 'xstate';
import type { Chart, ChartState, ChartTransition } from './chart.ts';

/**
 * Reads a machine's definition into plain data. Unlike XState's `toDirectedGraph` it has the eventless transitions
 * (`always`), by which the pod machine moves, and those of the root. States and transitions stand in the order of the definition.
 */
export function chartOf(machine: AnyStateMachine): Chart {
  const transitions: ChartTransition[] = [];
  const root = stateOf(machine.root, transitions);
  return { id: machine.id, root, transitions };
}

function stateOf(node: AnyStateNode, transitions: ChartTransition[]): ChartState {
  for (const [event, ways] of node.transitions as Map<string, readonly Way[]>) addWays(node, event, ways, transitions);
  addWays(node, '', node.always ?? [], transitions);
  const initial = (node.config as { initial?: unknown }).initial;
  const path = pathOf(node);
  return {
    path,
    key: path === '' ? node.machine.id : node.key,
    kind: node.type === 'history' ? 'atomic' : node.type,
    ...(typeof initial === 'string' && { initial: path === '' ? initial : `${path}.${initial}` }),
    description: node.description ?? '',
    states: Object.values(node.states)
      .sort((a, b) => a.order - b.order)
      .map((child) => stateOf(child, transitions)),
  };
}

interface Way {
  target?: readonly AnyStateNode[] | undefined;
}

function addWays(node: AnyStateNode, event: string, ways: readonly Way[], transitions: ChartTransition[]): void {
  const from = pathOf(node);
  for (const { target } of ways) {
    for (const to of target === undefined || target.length === 0 ? [from] : target.map(pathOf)) {
      if (!transitions.some((t) => t.from === from && t.to === to && t.event === event))
        transitions.push({ from, to, event });
    }
  }
}

function pathOf(node: AnyStateNode): string {
  return node.path.join('.');
}

/** All states of a chart below the root, parents before their children. */
export function statesOf(chart: Chart): ChartState[] {
  const below = (state: ChartState): ChartState[] => state.states.flatMap((child) => [child, ...below(child)]);
  return below(chart.root);
}
