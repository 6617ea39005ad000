import { Graph, layout } from '@dagrejs/dagre';
import type { Chart, ChartState } from '../../../../machines/charts/chart.ts';
import type { SiblingEdge } from './chart-tree.ts';
import { edgesByLevel } from './chart-tree.ts';
import { parentOf } from './state-names.ts';

export interface Point {
  x: number;
  y: number;
}

/** A state as drawn, px from the top left corner of the chart. */
export interface Box {
  path: string;
  key: string;
  kind: ChartState['kind'];
  description: string;
  /** It is the initial child of its parent. */
  initial: boolean;
  depth: number;
  x: number;
  y: number;
  w: number;
  h: number;
  /** Place in the grid of a level without lines; -1 elsewhere. */
  row: number;
  col: number;
}

/** A way that is always drawn. */
export interface Line {
  from: string;
  to: string;
  events: string[];
  points: Point[];
}

/** Level whose states stand in rows and whose ways are drawn only when taken. */
export interface Grid {
  /** Left and right edge of each column, top and bottom of each row. */
  cols: { start: number; end: number }[];
  rows: { start: number; end: number }[];
}

export interface ChartLayout {
  width: number;
  height: number;
  /** Parents before their children. */
  boxes: ReadonlyMap<string, Box>;
  lines: readonly Line[];
  /** By path of the parent. */
  grids: ReadonlyMap<string, Grid>;
}

/** Width of a character of the chart's font, px. */
const CHAR = 6.65;
const LEAF_HEIGHT = 28;
const TITLE = 24;
const PADDING = 14;
const COL_GAP = 24;
const ROW_GAP = 24;

/** A level laid out by itself, its corner at 0,0. */
interface Part {
  w: number;
  h: number;
  boxes: Box[];
  lines: Line[];
  grids: Map<string, Grid>;
}

/**
 * Where each state goes. Each level is laid out by itself, innermost first, with dagre; a level where every state may
 * follow every other, so without lines, becomes a grid in the order of the machine. So the picture of a machine is the same at each
 * moment. `maxWidth` (px) decides how many columns such a grid has and which way the others run.
 */
export function layoutChart(chart: Chart, maxWidth = 720): ChartLayout {
  const edges = edgesByLevel(chart.transitions);
  const part = layOutLevel(chart.root, edges, 0, Math.max(240, maxWidth));
  const boxes = new Map(part.boxes.sort((a, b) => a.depth - b.depth).map((box) => [box.path, box]));
  return { width: part.w, height: part.h, boxes, lines: part.lines, grids: part.grids };
}

function layOutLevel(
  parent: ChartState,
  edges: ReadonlyMap<string, SiblingEdge[]>,
  depth: number,
  maxWidth: number,
): Part {
  const inner = maxWidth - 2 * PADDING;
  const parts = new Map(parent.states.map((state) => [state.path, layOutState(state, edges, depth, inner)]));
  const own = edges.get(parent.path) ?? [];
  const loose = parent.states.length > 2 && own.length === 0 && parent.states.every((s) => s.states.length === 0);
  const part = loose ? asGrid(parent, parts, inner) : asGraph(parent, parts, own, inner);
  for (const box of part.boxes) {
    if (parentOf(box.path) === parent.path) box.initial = box.path === parent.initial || box.key === parent.initial;
  }
  return part;
}

/** A state with all that is in it. */
function layOutState(
  state: ChartState,
  edges: ReadonlyMap<string, SiblingEdge[]>,
  depth: number,
  maxWidth: number,
): Part {
  const box: Box = {
    path: state.path,
    key: state.key,
    kind: state.kind,
    description: state.description,
    initial: false,
    depth,
    x: 0,
    y: 0,
    w: Math.ceil(state.key.length * CHAR + 14),
    h: LEAF_HEIGHT,
    row: -1,
    col: -1,
  };
  if (state.states.length === 0) return { w: box.w, h: box.h, boxes: [box], lines: [], grids: new Map() };
  const inside = layOutLevel(state, edges, depth + 1, maxWidth);
  box.w = Math.max(inside.w + 2 * PADDING, box.w);
  box.h = inside.h + TITLE + PADDING;
  const moved = move(inside, PADDING, TITLE);
  return { w: box.w, h: box.h, boxes: [box, ...moved.boxes], lines: moved.lines, grids: moved.grids };
}

function asGrid(parent: ChartState, parts: ReadonlyMap<string, Part>, maxWidth: number): Part {
  const all = [...parts.values()];
  let count = all.length <= 4 ? all.length : Math.ceil(Math.sqrt(all.length));
  const widthsOf = (n: number) =>
    Array.from({ length: n }, (_, c) => Math.max(...all.filter((_, i) => i % n === c).map((p) => p.w)));
  while (count > 1 && widthsOf(count).reduce((sum, w) => sum + w + COL_GAP, -COL_GAP) > maxWidth) count--;
  const cols: Grid['cols'] = [];
  let x = 0;
  for (const w of widthsOf(count)) {
    cols.push({ start: x, end: x + w });
    x += w + COL_GAP;
  }
  const rows = Array.from({ length: Math.ceil(all.length / count) }, (_, r) => {
    const start = r * (LEAF_HEIGHT + ROW_GAP);
    return { start, end: start + LEAF_HEIGHT };
  });
  const boxes = all.flatMap((part, i) => {
    const col = i % count;
    const row = Math.floor(i / count);
    const width = (cols[col]?.end ?? 0) - (cols[col]?.start ?? 0);
    return move(part, cols[col]?.start ?? 0, rows[row]?.start ?? 0).boxes.map((b) => ({ ...b, w: width, row, col }));
  });
  // Space for ways that run outside the first and the last row.
  return {
    w: x - COL_GAP,
    h: (rows.at(-1)?.end ?? 0) + 4,
    boxes,
    lines: [],
    grids: new Map([[parent.path, { cols, rows }]]),
  };
}

/** By dagre, from left to right or from top to bottom: whichever fits the width better. */
function asGraph(
  parent: ChartState,
  parts: ReadonlyMap<string, Part>,
  edges: readonly SiblingEdge[],
  maxWidth: number,
): Part {
  const wide = runDagre(parts, edges, 'LR');
  const short = parent.path !== '' && parts.size <= 4 && [...parts.values()].every((p) => p.boxes.length === 1);
  if (short && wide.w <= maxWidth) return wide;
  const tall = runDagre(parts, edges, 'TB');
  const strain = (p: Part) => Math.max(p.w / maxWidth, p.h / 520);
  return strain(wide) < strain(tall) ? wide : tall;
}

function runDagre(parts: ReadonlyMap<string, Part>, edges: readonly SiblingEdge[], rankdir: 'LR' | 'TB'): Part {
  const graph = new Graph();
  graph.setGraph({ rankdir, nodesep: 20, ranksep: 32, edgesep: 12, marginx: 4, marginy: 4 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const [path, part] of parts) graph.setNode(path, { width: part.w, height: part.h });
  for (const edge of edges) graph.setEdge(edge.from, edge.to);
  layout(graph);
  const whole: Part = { w: 0, h: 0, boxes: [], lines: [], grids: new Map() };
  for (const [path, part] of parts) {
    const node = graph.node(path) as { x: number; y: number };
    const placed = move(part, Math.round(node.x - part.w / 2), Math.round(node.y - part.h / 2));
    whole.boxes.push(...placed.boxes);
    whole.lines.push(...placed.lines);
    for (const [at, grid] of placed.grids) whole.grids.set(at, grid);
  }
  for (const edge of edges) {
    const drawn = graph.edge(edge.from, edge.to) as { points?: Point[] } | undefined;
    whole.lines.push({ ...edge, points: drawn?.points ?? [] });
  }
  const size = graph.graph() as { width?: number; height?: number };
  // Dagre's size leaves out ways that swing beyond the states.
  const points = whole.lines.flatMap((line) => line.points);
  const left = Math.min(0, ...points.map((p) => p.x - 4));
  const top = Math.min(0, ...points.map((p) => p.y - 4));
  whole.w = Math.ceil(Math.max(size.width ?? 0, ...points.map((p) => p.x + 4)) - left);
  whole.h = Math.ceil(Math.max(size.height ?? 0, ...points.map((p) => p.y + 4)) - top);
  return left < 0 || top < 0 ? move(whole, Math.ceil(-left), Math.ceil(-top)) : whole;
}

function move(part: Part, dx: number, dy: number): Part {
  const shift = (spans: Grid['cols'], d: number) => spans.map((s) => ({ start: s.start + d, end: s.end + d }));
  return {
    w: part.w,
    h: part.h,
    boxes: part.boxes.map((b) => ({ ...b, x: b.x + dx, y: b.y + dy })),
    lines: part.lines.map((l) => ({ ...l, points: l.points.map((p) => ({ x: p.x + dx, y: p.y + dy })) })),
    grids: new Map(
      [...part.grids].map(([path, g]) => [path, { cols: shift(g.cols, dx), rows: shift(g.rows, dy) }] as const),
    ),
  };
}
