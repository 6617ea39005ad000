import type { ChartState, ChartTransition } from '../../../../machines/charts/chart.ts';
import { liftToSiblings } from '../../../../machines/charts/sibling-ways.ts';

/** A way between two states of the same level, with the messages that lead along it. */
export interface SiblingEdge {
  from: string;
  to: string;
  events: string[];
}

/** Transitions as ways between siblings, by the path of the state that they lie in ('' for the machine). */
export function edgesByLevel(transitions: readonly ChartTransition[]): Map<string, SiblingEdge[]> {
  const levels = new Map<string, Map<string, SiblingEdge>>();
  for (const { from, to, event } of transitions) {
    const lifted = liftToSiblings(from, to);
    if (lifted === null) continue;
    const edges = levels.get(lifted.level) ?? new Map<string, SiblingEdge>();
    levels.set(lifted.level, edges);
    const key = `${lifted.from}>${lifted.to}`;
    const edge = edges.get(key) ?? { from: lifted.from, to: lifted.to, events: [] };
    edges.set(key, edge);
    if (!edge.events.includes(event)) edge.events.push(event);
  }
  return new Map([...levels].map(([level, edges]) => [level, [...edges.values()]]));
}

/** Every state can follow (almost) every other, or no way is left to draw: ways would hide the states. */
export function isDense(states: readonly ChartState[], edges: readonly SiblingEdge[]): boolean {
  const n = states.length;
  return n > 2 && (edges.length === 0 || edges.length / (n * (n - 1)) > 0.6);
}
