import type { ChartState } from '../../../machines/charts/chart.ts';
import type { DrawnEdge } from '../../../machines/charts/legible-chart.ts';
import { parentOf, withParents } from './state-names.ts';

/** A way between two states of the same level, with the messages that lead along it. */
export interface SiblingEdge {
  from: string;
  to: string;
  events: string[];
}

/** The two sibling states that a way leads between, after stepping out of all that is not shared; null for a way that stays. */
export function liftToSiblings(from: string, to: string): { level: string; from: string; to: string } | null {
  const outer = [...withParents(from).reverse()];
  const other = [...withParents(to).reverse()];
  for (let i = 0; i < Math.min(outer.length, other.length); i++) {
    const a = outer[i] ?? '';
    const b = other[i] ?? '';
    if (a !== b) return { level: parentOf(a), from: a, to: b };
  }
  return null;
}

/** Ways as ways between siblings, by the path of the state that they lie in ('' for the machine). */
export function edgesByLevel(ways: readonly DrawnEdge[]): Map<string, SiblingEdge[]> {
  const levels = new Map<string, Map<string, SiblingEdge>>();
  for (const { from, to, events } of ways) {
    const lifted = from === '' || to === '' ? null : liftToSiblings(from, to);
    if (lifted === null) continue;
    const edges = levels.get(lifted.level) ?? new Map<string, SiblingEdge>();
    levels.set(lifted.level, edges);
    const key = `${lifted.from}>${lifted.to}`;
    const edge = edges.get(key) ?? { from: lifted.from, to: lifted.to, events: [] };
    edges.set(key, edge);
    for (const event of events) if (!edge.events.includes(event)) edge.events.push(event);
  }
  return new Map([...levels].map(([level, edges]) => [level, [...edges.values()]]));
}

/** Every state can follow (almost) every other, or no way is left to draw: ways would hide the states. */
export function isDense(states: readonly ChartState[], edges: readonly SiblingEdge[]): boolean {
  const n = states.length;
  return n > 2 && (edges.length === 0 || edges.length / (n * (n - 1)) > 0.6);
}
