import type { Chart, ChartState, ChartTransition } from './chart.ts';
import { statesOf } from './chart-of.ts';

/** One line of a drawing: all that leads from one state to another. */
export interface DrawnEdge {
  from: string;
  to: string;
  /** Types of the messages; '' stands for `always`. */
  events: string[];
}

/** A chart as it is drawn: fewer lines, and words for what the left out ones say. Nothing is lost but the lines. */
export interface LegibleChart {
  chart: Chart;
  edges: DrawnEdge[];
  /** Messages on which a state acts without leaving, by path ('' = the whole machine). */
  stays: Record<string, string[]>;
  /** What is to be written into a compound state, by path. */
  notes: Record<string, string[]>;
}

/** So many children of a state with the same way out are drawn as one way out of the state. */
const SAME_WAY = 3;

/**
 * Makes a chart legible. The pod machine is level-triggered: within `syncing` each of 16 states may follow each other,
 * which would be 240 lines that say one sentence. So
 * - where every child of a state can follow every other without a message, a note says so and no line is drawn;
 * - ways to all children of a state become one way to the state, and with them those to its children's siblings;
 * - three or more children with the same way out become one way out of their parent, with the exceptions in a note;
 * - what does not leave a state is written into it.
 */
export function legibleChart(chart: Chart): LegibleChart {
  const states = statesOf(chart);
  const notes: Record<string, string[]> = {};
  const stays: Record<string, string[]> = {};
  const note = (path: string, text: string) => (notes[path] ??= []).push(text);
  let ways = chart.transitions.filter(({ from, to, event }) => {
    if (from !== to) return true;
    (stays[from] ??= []).push(event);
    return false;
  });
  for (const parent of states.filter((s) => s.states.length > 0)) {
    const children = parent.states.map((s) => s.path);
    if (isComplete(children, ways)) {
      ways = ways.filter((w) => !(w.event === '' && children.includes(w.from) && children.includes(w.to)));
      note(parent.path, 'Each of these can follow any other, without a message: the machine looks at all it knows.');
    }
    ways = toParent(parent, ways);
    ways = fromParent(parent, ways, note);
  }
  return { chart, edges: merged(ways), stays, notes };
}

function isComplete(children: readonly string[], ways: readonly ChartTransition[]): boolean {
  if (children.length < 3) return false;
  const direct = new Set(ways.filter((w) => w.event === '').map((w) => `${w.from} ${w.to}`));
  return children.every((a) => children.every((b) => a === b || direct.has(`${a} ${b}`)));
}

/** Ways from one state to all children of `parent` become one way to `parent`. */
function toParent(parent: ChartState, ways: readonly ChartTransition[]): ChartTransition[] {
  const inside = (path: string) => path === parent.path || path.startsWith(`${parent.path}.`);
  const children = parent.states.map((s) => s.path);
  const sources = new Set(ways.filter((w) => !inside(w.from)).map((w) => `${w.from} ${w.event}`));
  let out = [...ways];
  for (const source of sources) {
    const own = out.filter((w) => `${w.from} ${w.event}` === source && children.includes(w.to));
    const [first] = own;
    if (first === undefined || own.length < children.length || children.length < 2) continue;
    out = out.map((w) => (w === first ? { ...w, to: parent.path } : w)).filter((w) => !own.includes(w) || w === first);
  }
  return out;
}

/** The same way out of several children becomes a way out of `parent`. */
function fromParent(
  parent: ChartState,
  ways: readonly ChartTransition[],
  note: (path: string, text: string) => void,
): ChartTransition[] {
  const inside = (path: string) => path === parent.path || path.startsWith(`${parent.path}.`);
  const children = parent.states.map((s) => s.path);
  const byWay = new Map<string, ChartTransition[]>();
  for (const w of ways)
    if (children.includes(w.from) && !inside(w.to))
      byWay.set(`${w.event} ${w.to}`, [...(byWay.get(`${w.event} ${w.to}`) ?? []), w]);
  let out = [...ways];
  for (const same of byWay.values()) {
    const [first] = same;
    if (first === undefined || same.length < SAME_WAY) continue;
    const missing = parent.states.filter((s) => !same.some((w) => w.from === s.path)).map((s) => s.key);
    if (missing.length > 0)
      note(
        parent.path,
        `${first.event === '' ? 'always' : first.event} to ${first.to}: not from ${missing.join(', ')}.`,
      );
    out = out.filter((w) => !same.includes(w) || w === first);
    out = out.map((w) => (w === first ? { ...w, from: parent.path } : w));
  }
  return out;
}

function merged(ways: readonly ChartTransition[]): DrawnEdge[] {
  const edges = new Map<string, DrawnEdge>();
  for (const { from, to, event } of ways) {
    const key = `${from} ${to}`;
    const edge = edges.get(key) ?? { from, to, events: [] };
    if (!edge.events.includes(event)) edge.events.push(event);
    edges.set(key, edge);
  }
  return [...edges.values()];
}
