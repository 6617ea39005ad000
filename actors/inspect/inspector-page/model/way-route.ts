import type { Box, ChartLayout, Grid, Point } from './chart-layout.ts';
import { liftToSiblings } from '../../../../machines/charts/sibling-ways.ts';

/** Number from a text, for ways that would else lie on one another. */
function spread(text: string, steps: number): number {
  let hash = 7;
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) % 9973;
  return (hash % steps) - (steps - 1) / 2;
}

/**
 * The line of a way that a pod has taken: as dagre drew it, or, in a grid, along the gaps between rows and columns, so
 * that it never runs through a state. A way into another compound state is drawn between the two compound states.
 * Empty for a way that stays or whose states the chart does not have.
 */
export function routeWay(layout: ChartLayout, from: string, to: string): Point[] {
  const lifted = liftToSiblings(from, to);
  if (lifted === null) return [];
  const a = layout.boxes.get(lifted.from);
  const b = layout.boxes.get(lifted.to);
  if (a === undefined || b === undefined) return [];
  const grid = layout.grids.get(lifted.level);
  if (grid !== undefined) return throughGrid(grid, a, b);
  const line = layout.lines.find((l) => l.from === a.path && l.to === b.path);
  return line !== undefined && line.points.length > 1 ? line.points : between(a, b);
}

function between(a: Box, b: Box): Point[] {
  const down = b.y > a.y;
  const right = b.x > a.x + a.w;
  if (right || b.x + b.w < a.x) {
    return [
      { x: right ? a.x + a.w : a.x, y: a.y + a.h / 2 },
      { x: right ? b.x : b.x + b.w, y: b.y + b.h / 2 },
    ];
  }
  return [
    { x: a.x + a.w / 2, y: down ? a.y + a.h : a.y },
    { x: b.x + b.w / 2, y: down ? b.y : b.y + b.h },
  ];
}

function throughGrid(grid: Grid, a: Box, b: Box): Point[] {
  const nudge = 4 * spread(`${a.path}>${b.path}`, 5);
  const ax = a.x + a.w / 2 + 2 * nudge;
  const bx = b.x + b.w / 2 + 2 * nudge;
  const middleY = a.y + a.h / 2;
  if (a.row === b.row && Math.abs(a.col - b.col) === 1) {
    const right = b.col > a.col;
    const y = middleY + (right ? -5 : 5);
    return [
      { x: right ? a.x + a.w : a.x, y },
      { x: right ? b.x : b.x + b.w, y },
    ];
  }
  const down = a.row === b.row ? a.row < grid.rows.length - 1 || a.row === 0 : b.row > a.row;
  const nearA = gapY(grid, down ? a.row : a.row - 1) + nudge;
  const start = { x: ax, y: down ? a.y + a.h : a.y };
  if (a.row === b.row) {
    return [start, { x: ax, y: nearA }, { x: bx, y: nearA }, { x: bx, y: down ? b.y + b.h : b.y }];
  }
  const end = { x: bx, y: down ? b.y : b.y + b.h };
  if (Math.abs(a.row - b.row) === 1) return [start, { x: ax, y: nearA }, { x: bx, y: nearA }, end];
  const nearB = gapY(grid, down ? b.row - 1 : b.row) + nudge;
  const side = a.col < b.col || (a.col === b.col && b.col > 0) ? b.col - 1 : b.col;
  const via = gapX(grid, side) + nudge;
  return [start, { x: ax, y: nearA }, { x: via, y: nearA }, { x: via, y: nearB }, { x: bx, y: nearB }, end];
}

/** Middle of the gap behind a row; -1: above the first one. */
function gapY(grid: Grid, row: number): number {
  const above = grid.rows[row];
  const below = grid.rows[row + 1];
  if (above === undefined) return (below?.start ?? 0) - 8;
  return below === undefined ? above.end + 8 : (above.end + below.start) / 2;
}

/** Middle of the gap to the right of a column; -1: left of the first one. */
function gapX(grid: Grid, col: number): number {
  const left = grid.cols[col];
  const right = grid.cols[col + 1];
  if (left === undefined) return (right?.start ?? 0) - 8;
  return right === undefined ? left.end + 8 : (left.end + right.start) / 2;
}

const n = (value: number) => String(Math.round(value * 10) / 10);

/** An SVG path through the points with rounded corners. */
export function roundedPath(points: readonly Point[], radius = 7): string {
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined || points.length < 2) return '';
  let d = `M${n(first.x)},${n(first.y)}`;
  for (let i = 1; i < points.length - 1; i++) {
    const before = points[i - 1];
    const here = points[i];
    const after = points[i + 1];
    if (before === undefined || here === undefined || after === undefined) continue;
    const into = toward(here, before, radius);
    const out = toward(here, after, radius);
    d += `L${n(into.x)},${n(into.y)}Q${n(here.x)},${n(here.y)} ${n(out.x)},${n(out.y)}`;
  }
  return `${d}L${n(last.x)},${n(last.y)}`;
}

function toward(from: Point, to: Point, distance: number): Point {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const length = Math.hypot(dx, dy);
  if (length === 0) return from;
  const part = Math.min(distance, length / 2) / length;
  return { x: from.x + dx * part, y: from.y + dy * part };
}
