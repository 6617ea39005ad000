import type { ChartState } from '../../../machines/charts/chart.ts';
import { ANY_ORDER } from '../../../machines/charts/drawn-chart.ts';
import type { DrawnChart, DrawnEdge } from '../../../machines/charts/drawn-chart.ts';
import { liftToSiblings } from '../../../machines/charts/sibling-ways.ts';

/** A state's box; all numbers in px, from the drawing's upper left corner. */
export interface Box {
  state: ChartState;
  x: number;
  y: number;
  width: number;
  height: number;
  /** Lines of text below the name. */
  lines: string[];
  /** It is the one that its parent begins with. */
  first: boolean;
}

/** A line between two boxes of one parent, with its label. */
export interface Line {
  points: { x: number; y: number }[];
  label: string[];
  x: number;
  y: number;
  /** No message is needed for it. */
  eventless: boolean;
}

/** A chart with places. Boxes stand in the order in which they must be drawn: parents first. */
export interface Layout {
  width: number;
  height: number;
  boxes: Box[];
  lines: Line[];
}

/** Widths of an average letter, px: text is never measured, so that the same chart gives the same bytes everywhere. */
const NAME_LETTER = 7.6;
const TEXT_LETTER = 6.1;
/** Height of the name's line and of a line of text, px. */
export const NAME_LINE = 20;
export const TEXT_LINE = 15;
const PAD = 10;
const GAP = 22;
/** Letters after which a description goes on in the next line. */
const LEAF_LETTERS = 30;
const PARENT_LETTERS = 90;
/** Boxes side by side where no line says how to place them. */
const COLUMNS = 4;

interface Place {
  width: number;
  height: number;
  boxes: Box[];
  lines: Line[];
}

/**
 * Gives every state a box. Each compound state is laid out for itself (by dagre, or as a grid when no line joins its
 * children), and then is one box in its parent. A line that crosses borders is drawn between the boxes that stand side
 * by side; its label names the inner states.
 */
export async function layoutChart(drawn: DrawnChart): Promise<Layout> {
  const dagre = await import('@dagrejs/dagre');
  const { chart, edges, reasons, anyOrder, stays } = drawn;

  const place = (state: ChartState, first: boolean): Place => {
    const letters = state.states.length === 0 ? LEAF_LETTERS : PARENT_LETTERS;
    const texts = [
      ...wrap(state.description, letters),
      ...wrap(stayText(state, stays[state.path] ?? []), letters),
      ...(reasons[state.path] ?? []).flatMap((why) => wrap(`← ${why}`, letters)),
      ...(anyOrder.includes(state.path) ? [ANY_ORDER] : []),
      ...(state.path === '' ? rootLines(edges).flatMap((line) => wrap(line, PARENT_LETTERS)) : []),
    ];
    const head = PAD + NAME_LINE + texts.length * TEXT_LINE;
    const widest = Math.max(state.key.length * NAME_LETTER, ...texts.map((t) => t.length * TEXT_LETTER)) + 2 * PAD;
    const own = (width: number, height: number): Box => ({ state, x: 0, y: 0, width, height, lines: texts, first });
    if (state.states.length === 0) {
      const box = own(Math.ceil(widest), head + PAD - 4);
      return { width: box.width, height: box.height, boxes: [box], lines: [] };
    }
    const inner = arrange(state, edges, (child) => place(child, child.path === state.initial));
    const width = Math.ceil(Math.max(widest, inner.width + 2 * GAP));
    const height = head + inner.height + 2 * GAP;
    const shifted = moved(inner, Math.floor((width - inner.width) / 2), head + GAP);
    return { width, height, boxes: [own(width, height), ...shifted.boxes], lines: shifted.lines };
  };

  /** Places of the children of a state, from (0, 0). */
  const arrange = (parent: ChartState, all: readonly DrawnEdge[], of: (child: ChartState) => Place): Place => {
    const places = parent.states.map((child) => ({ child, at: of(child) }));
    const between = liftedEdges(parent, all);
    if (between.length === 0) return grid(places.map(({ at }) => at));
    const graph = new dagre.Graph({ directed: true, multigraph: true });
    graph.setGraph({ rankdir: 'TB', nodesep: 36, ranksep: 34, edgesep: 16, marginx: 0, marginy: 0 });
    for (const { child, at } of places) graph.setNode(child.path, { width: at.width, height: at.height });
    // States stand in the machine's definition as they follow each other: lines against that order go upwards.
    const order = new Map(parent.states.map((child, i) => [child.path, i]));
    const upwards = ({ from, to }: Lifted) => (order.get(from) ?? 0) > (order.get(to) ?? 0);
    for (const way of between) {
      const { from, to, label } = way;
      const width = Math.max(4, ...label.map((line) => line.length * TEXT_LETTER)) + 8;
      const size = { width, height: label.length * TEXT_LINE + 6, labelpos: 'c' };
      if (upwards(way)) graph.setEdge(to, from, size, 'up');
      else graph.setEdge(from, to, size, 'down');
    }
    dagre.layout(graph);
    const out: Place = { width: 0, height: 0, boxes: [], lines: [] };
    for (const { child, at } of places) {
      const node = graph.node(child.path) as { x: number; y: number };
      const put = moved(at, node.x - at.width / 2, node.y - at.height / 2);
      out.boxes.push(...put.boxes);
      out.lines.push(...put.lines);
    }
    for (const way of between) {
      const { from, to, label, eventless } = way;
      const edge = (upwards(way) ? graph.edge(to, from, 'up') : graph.edge(from, to, 'down')) as {
        points: { x: number; y: number }[];
        x?: number;
        y?: number;
      };
      const points = upwards(way) ? edge.points.toReversed() : edge.points;
      const middle = points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 };
      out.lines.push({ points, label, x: edge.x ?? middle.x, y: edge.y ?? middle.y, eventless });
    }
    return trimmed(out);
  };

  const whole = moved(place(chart.root, false), 1, 1);
  return {
    width: Math.ceil(whole.width + 2),
    height: Math.ceil(whole.height + 2),
    boxes: whole.boxes,
    lines: whole.lines,
  };
}

/** Moves everything so that it begins at (0, 0), and measures it; labels and lines count. */
function trimmed({ boxes, lines }: Place): Place {
  const labels = lines.map((l) => Math.max(0, ...l.label.map((text) => text.length * TEXT_LETTER)) / 2);
  const points = lines.flatMap((l) => l.points);
  const left = Math.min(
    ...boxes.map((b) => b.x),
    ...points.map((p) => p.x),
    ...lines.map((l, i) => l.x - (labels[i] ?? 0)),
  );
  const top = Math.min(...boxes.map((b) => b.y), ...points.map((p) => p.y));
  const right = Math.max(
    ...boxes.map((b) => b.x + b.width),
    ...points.map((p) => p.x),
    ...lines.map((l, i) => l.x + (labels[i] ?? 0)),
  );
  const bottom = Math.max(...boxes.map((b) => b.y + b.height), ...points.map((p) => p.y));
  return moved({ boxes, lines, width: right - left, height: bottom - top }, -left, -top);
}

function moved(at: Place, dx: number, dy: number): Place {
  return {
    ...at,
    boxes: at.boxes.map((b) => ({ ...b, x: b.x + dx, y: b.y + dy })),
    lines: at.lines.map((l) => ({
      ...l,
      x: l.x + dx,
      y: l.y + dy,
      points: l.points.map((p) => ({ x: p.x + dx, y: p.y + dy })),
    })),
  };
}

function grid(places: readonly Place[]): Place {
  const columns = Math.min(places.length, COLUMNS);
  const width = Math.max(...places.map((p) => p.width));
  const out: Place = { width: columns * width + (columns - 1) * GAP, height: 0, boxes: [], lines: [] };
  for (let row = 0; row < places.length; row += columns) {
    const line = places.slice(row, row + columns);
    const height = Math.max(...line.map((p) => p.height));
    line.forEach((p, i) => {
      const [box, ...inner] = p.boxes;
      if (box === undefined) return;
      const even = { ...p, boxes: [{ ...box, width, height }, ...inner] };
      const put = moved(even, i * (width + GAP), out.height);
      out.boxes.push(...put.boxes);
      out.lines.push(...put.lines);
    });
    out.height += height + GAP;
  }
  return { ...out, height: out.height - GAP };
}

interface Lifted {
  from: string;
  to: string;
  label: string[];
  eventless: boolean;
}

/** The lines between children of `parent`, with those between their insides. */
function liftedEdges(parent: ChartState, edges: readonly DrawnEdge[]): Lifted[] {
  const byPair = new Map<string, { from: string; to: string; edges: DrawnEdge[] }>();
  for (const edge of edges) {
    const lifted = liftToSiblings(edge.from, edge.to);
    if (lifted?.level !== parent.path) continue;
    const { from, to } = lifted;
    const pair = byPair.get(`${from} ${to}`) ?? { from, to, edges: [] };
    pair.edges.push(edge);
    byPair.set(`${from} ${to}`, pair);
  }
  return [...byPair.values()].map((pair) => ({
    from: pair.from,
    to: pair.to,
    label: labelOf(pair).flatMap((line) => wrap(line, LEAF_LETTERS + 6)),
    eventless: pair.edges.every(({ labels }) => labels.length === 1 && labels[0] === 'always'),
  }));
}

/** `messages (from inner states) → inner states`, ways with the same messages and ends together. */
function labelOf(pair: { from: string; to: string; edges: DrawnEdge[] }): string[] {
  const inner = (path: string, outer: string) => (path === outer ? '' : path.slice(outer.length + 1));
  const all = pair.edges.map(({ from, to, labels }) => ({
    events: labels.join(', '),
    from: inner(from, pair.from),
    to: inner(to, pair.to),
  }));
  // What leads out of every inner state need not be said of one of them.
  const ways = all.filter(
    (w) => w.from === '' || !all.some((o) => o.from === '' && o.events === w.events && o.to === w.to),
  );
  const byTarget = joined(ways, (w) => `${w.events} ${w.from}`, 'to');
  const lines = joined(byTarget, (w) => `${w.events} ${w.to}`, 'from');
  const plain = lines.every((w) => (w.events === 'always' || w.events === '') && w.from === '' && w.to === '');
  if (plain) return [];
  return lines.map((w) =>
    [w.events, w.from === '' ? '' : `(${w.from})`, w.to === '' ? '' : `→ ${w.to}`].filter((t) => t !== '').join(' '),
  );
}

type Way = { events: string; from: string; to: string };

function joined(ways: readonly Way[], key: (way: Way) => string, field: 'from' | 'to'): Way[] {
  const groups = new Map<string, Way>();
  for (const way of ways) {
    const known = groups.get(key(way));
    if (known === undefined) groups.set(key(way), { ...way });
    else if (way[field] !== '' && known[field] !== '') known[field] = `${known[field]}, ${way[field]}`;
    else groups.set(`${key(way)} ${groups.size}`, { ...way });
  }
  return [...groups.values()];
}

function rootLines(edges: readonly DrawnEdge[]): string[] {
  return edges
    .filter(({ from }) => from === '')
    .map(({ to, labels }) => `in every state: ${labels.join(', ')} → ${to}`);
}

function stayText(state: ChartState, events: readonly string[]): string {
  if (events.length === 0) return '';
  return `${state.path === '' ? 'in every state, handled without leaving it' : 'stays on'}: ${events.join(', ')}`;
}

/** Breaks a text at spaces into lines of at most `letters`. */
function wrap(text: string, letters: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').filter((w) => w !== '')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= letters) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
