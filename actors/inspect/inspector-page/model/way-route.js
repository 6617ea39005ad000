import { liftToSiblings } from '../../../../machines/charts/sibling-ways.ts';
/** Number from a text, for ways that would else lie on one another. */
function spread(text, steps) {
  var hash = 7;
  for (var i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) % 9973;
  return (hash % steps) - (steps - 1) / 2;
}
/**
 * The line of a way that a pod has taken: as dagre drew it, or, in a grid, along the gaps between rows and columns, so
 * that it never runs through a state. A way into another compound state is drawn between the two compound states.
 * Empty for a way that stays or whose states the chart does not have.
 */
export function routeWay(layout, from, to) {
  var lifted = liftToSiblings(from, to);
  if (lifted === null) return [];
  var a = layout.boxes.get(lifted.from);
  var b = layout.boxes.get(lifted.to);
  if (a === undefined || b === undefined) return [];
  var grid = layout.grids.get(lifted.level);
  if (grid !== undefined) return throughGrid(grid, a, b);
  var line = layout.lines.find(function (l) {
    return l.from === a.path && l.to === b.path;
  });
  return line !== undefined && line.points.length > 1 ? line.points : between(a, b);
}
function between(a, b) {
  var down = b.y > a.y;
  var right = b.x > a.x + a.w;
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
function throughGrid(grid, a, b) {
  var nudge = 4 * spread(''.concat(a.path, '>').concat(b.path), 5);
  var ax = a.x + a.w / 2 + 2 * nudge;
  var bx = b.x + b.w / 2 + 2 * nudge;
  var middleY = a.y + a.h / 2;
  if (a.row === b.row && Math.abs(a.col - b.col) === 1) {
    var right = b.col > a.col;
    var y = middleY + (right ? -5 : 5);
    return [
      { x: right ? a.x + a.w : a.x, y: y },
      { x: right ? b.x : b.x + b.w, y: y },
    ];
  }
  var down = a.row === b.row ? a.row < grid.rows.length - 1 || a.row === 0 : b.row > a.row;
  var nearA = gapY(grid, down ? a.row : a.row - 1) + nudge;
  var start = { x: ax, y: down ? a.y + a.h : a.y };
  if (a.row === b.row) {
    return [start, { x: ax, y: nearA }, { x: bx, y: nearA }, { x: bx, y: down ? b.y + b.h : b.y }];
  }
  var end = { x: bx, y: down ? b.y : b.y + b.h };
  if (Math.abs(a.row - b.row) === 1) return [start, { x: ax, y: nearA }, { x: bx, y: nearA }, end];
  var nearB = gapY(grid, down ? b.row - 1 : b.row) + nudge;
  var side = a.col < b.col || (a.col === b.col && b.col > 0) ? b.col - 1 : b.col;
  var via = gapX(grid, side) + nudge;
  return [start, { x: ax, y: nearA }, { x: via, y: nearA }, { x: via, y: nearB }, { x: bx, y: nearB }, end];
}
/** Middle of the gap behind a row; -1: above the first one. */
function gapY(grid, row) {
  var _a;
  var above = grid.rows[row];
  var below = grid.rows[row + 1];
  if (above === undefined)
    return ((_a = below === null || below === void 0 ? void 0 : below.start) !== null && _a !== void 0 ? _a : 0) - 8;
  return below === undefined ? above.end + 8 : (above.end + below.start) / 2;
}
/** Middle of the gap to the right of a column; -1: left of the first one. */
function gapX(grid, col) {
  var _a;
  var left = grid.cols[col];
  var right = grid.cols[col + 1];
  if (left === undefined)
    return ((_a = right === null || right === void 0 ? void 0 : right.start) !== null && _a !== void 0 ? _a : 0) - 8;
  return right === undefined ? left.end + 8 : (left.end + right.start) / 2;
}
var n = function (value) {
  return String(Math.round(value * 10) / 10);
};
/** An SVG path through the points with rounded corners. */
export function roundedPath(points, radius) {
  if (radius === void 0) {
    radius = 7;
  }
  var first = points[0];
  var last = points.at(-1);
  if (first === undefined || last === undefined || points.length < 2) return '';
  var d = 'M'.concat(n(first.x), ',').concat(n(first.y));
  for (var i = 1; i < points.length - 1; i++) {
    var before = points[i - 1];
    var here = points[i];
    var after = points[i + 1];
    if (before === undefined || here === undefined || after === undefined) continue;
    var into = toward(here, before, radius);
    var out = toward(here, after, radius);
    d += 'L'
      .concat(n(into.x), ',')
      .concat(n(into.y), 'Q')
      .concat(n(here.x), ',')
      .concat(n(here.y), ' ')
      .concat(n(out.x), ',')
      .concat(n(out.y));
  }
  return ''.concat(d, 'L').concat(n(last.x), ',').concat(n(last.y));
}
function toward(from, to, distance) {
  var dx = to.x - from.x;
  var dy = to.y - from.y;
  var length = Math.hypot(dx, dy);
  if (length === 0) return from;
  var part = Math.min(distance, length / 2) / length;
  return { x: from.x + dx * part, y: from.y + dy * part };
}
