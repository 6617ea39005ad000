import type { Chart } from './chart.ts';

/** One line of a drawing: all that leads from one state to another. */
export interface DrawnEdge {
  from: string;
  to: string;
  /** Types of the messages, 'always' for none; empty when what brings it about is written into the state `to`. */
  labels: string[];
}

/** A chart as it is drawn. Each of its transitions is a line, or words in the box of a state. */
export interface DrawnChart {
  chart: Chart;
  edges: DrawnEdge[];
  /** Messages on which a state acts without leaving, by path ('' = the whole machine). */
  stays: Record<string, string[]>;
  /** What brings a machine into a state, by its path, where the definition says so. */
  reasons: Record<string, string[]>;
  /** Compound states whose states may each follow any other; nothing is drawn for that. */
  anyOrder: string[];
}

/**
 * What of a chart is a line and what are words. What does not leave a state is written into it. A transition from a state around `to`
 * (any of its siblings may come before it) has no line to be: its reason stands in `to`, as do the reasons of all
 * transitions that have one.
 */
export function drawnChart(chart: Chart): DrawnChart {
  const drawn: DrawnChart = { chart, edges: [], stays: {}, reasons: {}, anyOrder: [] };
  const lines = new Map<string, DrawnEdge>();
  const within = new Map<string, number>();
  for (const { from, to, event, why } of chart.transitions) {
    const label = event === '' ? 'always' : event;
    if (from === to) {
      (drawn.stays[from] ??= []).push(label);
      continue;
    }
    const reasons = (drawn.reasons[to] ??= []);
    if (why !== undefined && !reasons.includes(why)) reasons.push(why);
    if (from !== '' && to.startsWith(`${from}.`) && why !== undefined) {
      within.set(from, (within.get(from) ?? 0) + 1);
      continue;
    }
    const key = `${from} ${to}`;
    const line = lines.get(key) ?? { from, to, labels: [] };
    if (why === undefined && !line.labels.includes(label)) line.labels.push(label);
    lines.set(key, line);
  }
  drawn.edges = [...lines.values()];
  drawn.anyOrder = [...within].filter(([path, count]) => count === childrenOf(chart, path)).map(([path]) => path);
  return drawn;
}

function childrenOf({ root }: Chart, path: string): number {
  let state = root;
  for (const key of path.split('.')) {
    const child = state.states.find((s) => s.key === key);
    if (child === undefined) return 0;
    state = child;
  }
  return state.states.length;
}

/** Note in a compound state of {@link DrawnChart.anyOrder}. */
export const ANY_ORDER = 'Each of these may follow any other.';
