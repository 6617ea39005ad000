import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { ANY_ENTER } from '../machine-step/move.ts';
import type { Chart, ChartState, ChartTransition } from './chart.ts';

/**
 * Reads a machine's definition into plain data. Unlike XState's `toDirectedGraph` it has the eventless transitions
 * (`always`) and those of the root. States and transitions stand in the order of the definition.
 */
export function chartOf(machine: AnyStateMachine): Chart {
  const transitions: ChartTransition[] = [];
  const root = stateOf(machine.root, transitions);
  return { id: machine.id, root, transitions };
}

function stateOf(node: AnyStateNode, transitions: ChartTransition[]): ChartState {
  for (const [event, all] of node.transitions as Map<string, readonly Transition[]>)
    addTransitions(node, event, all, transitions);
  addTransitions(node, '', node.always ?? [], transitions);
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

interface Transition {
  target?: readonly AnyStateNode[] | undefined;
  description?: string | undefined;
}

function addTransitions(node: AnyStateNode, event: string, all: readonly Transition[], to: ChartTransition[]): void {
  // Any move that is not declared: the step fails, nothing is entered.
  if (event === ANY_ENTER) return;
  const from = pathOf(node);
  for (const { target, description } of all) {
    for (const path of target === undefined || target.length === 0 ? [from] : target.map(pathOf)) {
      if (to.some((t) => t.from === from && t.to === path && t.event === event)) continue;
      to.push({ from, to: path, event, ...(description !== undefined && { why: description }) });
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
