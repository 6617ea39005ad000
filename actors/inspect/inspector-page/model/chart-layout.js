var __assign =
  (this && this.__assign) ||
  function () {
    __assign =
      Object.assign ||
      function (t) {
        for (var s, i = 1, n = arguments.length; i < n; i++) {
          s = arguments[i];
          for (var p in s) if (Object.prototype.hasOwnProperty.call(s, p)) t[p] = s[p];
        }
        return t;
      };
    return __assign.apply(this, arguments);
  };
var __spreadArray =
  (this && this.__spreadArray) ||
  function (to, from, pack) {
    if (pack || arguments.length === 2)
      for (var i = 0, l = from.length, ar; i < l; i++) {
        if (ar || !(i in from)) {
          if (!ar) ar = Array.prototype.slice.call(from, 0, i);
          ar[i] = from[i];
        }
      }
    return to.concat(ar || Array.prototype.slice.call(from));
  };
import { Graph, layout } from '@dagrejs/dagre';
import { legibleChart } from '../../../../machines/charts/legible-chart.ts';
import { edgesByLevel, isDense } from './chart-tree.ts';
import { parentOf } from './state-names.ts';
/** Width of a character of the chart's font, px. */
var CHAR = 6.65;
var LEAF_HEIGHT = 28;
var TITLE = 24;
var PADDING = 14;
var COL_GAP = 24;
var ROW_GAP = 24;
/**
 * Where each state goes. Each level is laid out by itself, innermost first, with dagre; a level where every state can
 * follow every other becomes a grid in the order of the machine. So the picture of a machine is the same at each
 * moment. `maxWidth` (px) decides how many columns such a grid has and which way the others run.
 */
export function layoutChart(chart, maxWidth) {
  if (maxWidth === void 0) {
    maxWidth = 720;
  }
  var edges = edgesByLevel(legibleChart(chart).edges);
  var part = layOutLevel(chart.root, edges, 0, Math.max(240, maxWidth));
  var boxes = new Map(
    part.boxes
      .sort(function (a, b) {
        return a.depth - b.depth;
      })
      .map(function (box) {
        return [box.path, box];
      }),
  );
  return { width: part.w, height: part.h, boxes: boxes, lines: part.lines, grids: part.grids };
}
function layOutLevel(parent, edges, depth, maxWidth) {
  var _a;
  var inner = maxWidth - 2 * PADDING;
  var parts = new Map(
    parent.states.map(function (state) {
      return [state.path, layOutState(state, edges, depth, inner)];
    }),
  );
  var own = (_a = edges.get(parent.path)) !== null && _a !== void 0 ? _a : [];
  var dense =
    isDense(parent.states, own) &&
    parent.states.every(function (s) {
      return s.states.length === 0;
    });
  var part = dense ? asGrid(parent, parts, inner) : asGraph(parent, parts, own, inner);
  for (var _i = 0, _b = part.boxes; _i < _b.length; _i++) {
    var box = _b[_i];
    if (parentOf(box.path) === parent.path) box.initial = box.path === parent.initial || box.key === parent.initial;
  }
  return part;
}
/** A state with all that is in it. */
function layOutState(state, edges, depth, maxWidth) {
  var box = {
    path: state.path,
    key: state.key,
    kind: state.kind,
    description: state.description,
    initial: false,
    depth: depth,
    x: 0,
    y: 0,
    w: Math.ceil(state.key.length * CHAR + 14),
    h: LEAF_HEIGHT,
    row: -1,
    col: -1,
  };
  if (state.states.length === 0) return { w: box.w, h: box.h, boxes: [box], lines: [], grids: new Map() };
  var inside = layOutLevel(state, edges, depth + 1, maxWidth);
  box.w = Math.max(inside.w + 2 * PADDING, box.w);
  box.h = inside.h + TITLE + PADDING;
  var moved = move(inside, PADDING, TITLE);
  return { w: box.w, h: box.h, boxes: __spreadArray([box], moved.boxes, true), lines: moved.lines, grids: moved.grids };
}
function asGrid(parent, parts, maxWidth) {
  var _a, _b;
  var all = __spreadArray([], parts.values(), true);
  var count = all.length <= 4 ? all.length : Math.ceil(Math.sqrt(all.length));
  var widthsOf = function (n) {
    return Array.from({ length: n }, function (_, c) {
      return Math.max.apply(
        Math,
        all
          .filter(function (_, i) {
            return i % n === c;
          })
          .map(function (p) {
            return p.w;
          }),
      );
    });
  };
  while (
    count > 1 &&
    widthsOf(count).reduce(function (sum, w) {
      return sum + w + COL_GAP;
    }, -COL_GAP) > maxWidth
  )
    count--;
  var cols = [];
  var x = 0;
  for (var _i = 0, _c = widthsOf(count); _i < _c.length; _i++) {
    var w = _c[_i];
    cols.push({ start: x, end: x + w });
    x += w + COL_GAP;
  }
  var rows = Array.from({ length: Math.ceil(all.length / count) }, function (_, r) {
    var start = r * (LEAF_HEIGHT + ROW_GAP);
    return { start: start, end: start + LEAF_HEIGHT };
  });
  var boxes = all.flatMap(function (part, i) {
    var _a, _b, _c, _d, _e, _f, _g, _h;
    var col = i % count;
    var row = Math.floor(i / count);
    var width =
      ((_b = (_a = cols[col]) === null || _a === void 0 ? void 0 : _a.end) !== null && _b !== void 0 ? _b : 0) -
      ((_d = (_c = cols[col]) === null || _c === void 0 ? void 0 : _c.start) !== null && _d !== void 0 ? _d : 0);
    return move(
      part,
      (_f = (_e = cols[col]) === null || _e === void 0 ? void 0 : _e.start) !== null && _f !== void 0 ? _f : 0,
      (_h = (_g = rows[row]) === null || _g === void 0 ? void 0 : _g.start) !== null && _h !== void 0 ? _h : 0,
    ).boxes.map(function (b) {
      return __assign(__assign({}, b), { w: width, row: row, col: col });
    });
  });
  // Space for ways that run outside the first and the last row.
  return {
    w: x - COL_GAP,
    h: ((_b = (_a = rows.at(-1)) === null || _a === void 0 ? void 0 : _a.end) !== null && _b !== void 0 ? _b : 0) + 4,
    boxes: boxes,
    lines: [],
    grids: new Map([[parent.path, { cols: cols, rows: rows }]]),
  };
}
/** By dagre, from left to right or from top to bottom: whichever fits the width better. */
function asGraph(parent, parts, edges, maxWidth) {
  var wide = runDagre(parts, edges, 'LR');
  var short =
    parent.path !== '' &&
    parts.size <= 4 &&
    __spreadArray([], parts.values(), true).every(function (p) {
      return p.boxes.length === 1;
    });
  if (short && wide.w <= maxWidth) return wide;
  var tall = runDagre(parts, edges, 'TB');
  var strain = function (p) {
    return Math.max(p.w / maxWidth, p.h / 520);
  };
  return strain(wide) < strain(tall) ? wide : tall;
}
function runDagre(parts, edges, rankdir) {
  var _a, _b;
  var _c, _d, _e;
  var graph = new Graph();
  graph.setGraph({ rankdir: rankdir, nodesep: 20, ranksep: 32, edgesep: 12, marginx: 4, marginy: 4 });
  graph.setDefaultEdgeLabel(function () {
    return {};
  });
  for (var _i = 0, parts_1 = parts; _i < parts_1.length; _i++) {
    var _f = parts_1[_i],
      path = _f[0],
      part = _f[1];
    graph.setNode(path, { width: part.w, height: part.h });
  }
  for (var _g = 0, edges_1 = edges; _g < edges_1.length; _g++) {
    var edge = edges_1[_g];
    graph.setEdge(edge.from, edge.to);
  }
  layout(graph);
  var whole = { w: 0, h: 0, boxes: [], lines: [], grids: new Map() };
  for (var _h = 0, parts_2 = parts; _h < parts_2.length; _h++) {
    var _j = parts_2[_h],
      path = _j[0],
      part = _j[1];
    var node = graph.node(path);
    var placed = move(part, Math.round(node.x - part.w / 2), Math.round(node.y - part.h / 2));
    (_a = whole.boxes).push.apply(_a, placed.boxes);
    (_b = whole.lines).push.apply(_b, placed.lines);
    for (var _k = 0, _l = placed.grids; _k < _l.length; _k++) {
      var _m = _l[_k],
        at = _m[0],
        grid = _m[1];
      whole.grids.set(at, grid);
    }
  }
  for (var _o = 0, edges_2 = edges; _o < edges_2.length; _o++) {
    var edge = edges_2[_o];
    var drawn = graph.edge(edge.from, edge.to);
    whole.lines.push(
      __assign(__assign({}, edge), {
        points: (_c = drawn === null || drawn === void 0 ? void 0 : drawn.points) !== null && _c !== void 0 ? _c : [],
      }),
    );
  }
  var size = graph.graph();
  // Dagre's size leaves out ways that swing beyond the states.
  var points = whole.lines.flatMap(function (line) {
    return line.points;
  });
  var left = Math.min.apply(
    Math,
    __spreadArray(
      [0],
      points.map(function (p) {
        return p.x - 4;
      }),
      false,
    ),
  );
  var top = Math.min.apply(
    Math,
    __spreadArray(
      [0],
      points.map(function (p) {
        return p.y - 4;
      }),
      false,
    ),
  );
  whole.w = Math.ceil(
    Math.max.apply(
      Math,
      __spreadArray(
        [(_d = size.width) !== null && _d !== void 0 ? _d : 0],
        points.map(function (p) {
          return p.x + 4;
        }),
        false,
      ),
    ) - left,
  );
  whole.h = Math.ceil(
    Math.max.apply(
      Math,
      __spreadArray(
        [(_e = size.height) !== null && _e !== void 0 ? _e : 0],
        points.map(function (p) {
          return p.y + 4;
        }),
        false,
      ),
    ) - top,
  );
  return left < 0 || top < 0 ? move(whole, Math.ceil(-left), Math.ceil(-top)) : whole;
}
function move(part, dx, dy) {
  var shift = function (spans, d) {
    return spans.map(function (s) {
      return { start: s.start + d, end: s.end + d };
    });
  };
  return {
    w: part.w,
    h: part.h,
    boxes: part.boxes.map(function (b) {
      return __assign(__assign({}, b), { x: b.x + dx, y: b.y + dy });
    }),
    lines: part.lines.map(function (l) {
      return __assign(__assign({}, l), {
        points: l.points.map(function (p) {
          return { x: p.x + dx, y: p.y + dy };
        }),
      });
    }),
    grids: new Map(
      __spreadArray([], part.grids, true).map(function (_a) {
        var path = _a[0],
          g = _a[1];
        return [path, { cols: shift(g.cols, dx), rows: shift(g.rows, dy) }];
      }),
    ),
  };
}
