import type { ChartTransition } from '../../../../machines/charts/chart.ts';
import { liftToSiblings } from '../../../../machines/charts/sibling-ways.ts';

/** A way between two states of the same level, with the messages or reasons that lead along it. */
export interface SiblingEdge {
  from: string;
  to: string;
  events: string[];
}

/** Transitions as ways between siblings, by the path of the state that they lie in ('' for the machine). */
export function edgesByLevel(transitions: readonly ChartTransition[]): Map<string, SiblingEdge[]> {
  const levels = new Map<string, Map<string, SiblingEdge>>();
  for (const { from, to, event, why = event } of transitions) {
    const lifted = liftToSiblings(from, to);
    if (lifted === null) continue;
    const edges = levels.get(lifted.level) ?? new Map<string, SiblingEdge>();
    levels.set(lifted.level, edges);
    const key = `${lifted.from}>${lifted.to}`;
    const edge = edges.get(key) ?? { from: lifted.from, to: lifted.to, events: [] };
    edges.set(key, edge);
    if (!edge.events.includes(why)) edge.events.push(why);
  }
  return new Map([...levels].map(([level, edges]) => [level, [...edges.values()]]));
}
