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
import { statesOf } from './chart-of.ts';
/** So many children of a state with the same way out are drawn as one way out of the state. */
var SAME_WAY = 3;
/**
 * Makes a chart legible. The pod machine is level-triggered: within `syncing` each of 16 states may follow each other,
 * which would be 240 lines that say one sentence. So
 * - where every child of a state can follow every other without a message, a note says so and no line is drawn;
 * - ways to all children of a state become one way to the state, and with them those to its children's siblings;
 * - three or more children with the same way out become one way out of their parent, with the exceptions in a note;
 * - what does not leave a state is written into it.
 */
export function legibleChart(chart) {
  var states = statesOf(chart);
  var notes = {};
  var stays = {};
  var note = function (path, text) {
    var _a;
    return ((_a = notes[path]) !== null && _a !== void 0 ? _a : (notes[path] = [])).push(text);
  };
  var ways = chart.transitions.filter(function (_a) {
    var _b;
    var from = _a.from,
      to = _a.to,
      event = _a.event;
    if (from !== to) return true;
    ((_b = stays[from]) !== null && _b !== void 0 ? _b : (stays[from] = [])).push(event);
    return false;
  });
  var _loop_1 = function (parent_1) {
    var children = parent_1.states.map(function (s) {
      return s.path;
    });
    if (isComplete(children, ways)) {
      ways = ways.filter(function (w) {
        return !(w.event === '' && children.includes(w.from) && children.includes(w.to));
      });
      note(parent_1.path, 'Each of these can follow any other, without a message: the machine looks at all it knows.');
    }
    ways = toParent(parent_1, ways);
    ways = fromParent(parent_1, ways, note);
  };
  for (
    var _i = 0,
      _a = states.filter(function (s) {
        return s.states.length > 0;
      });
    _i < _a.length;
    _i++
  ) {
    var parent_1 = _a[_i];
    _loop_1(parent_1);
  }
  return { chart: chart, edges: merged(ways), stays: stays, notes: notes };
}
function isComplete(children, ways) {
  if (children.length < 3) return false;
  var direct = new Set(
    ways
      .filter(function (w) {
        return w.event === '';
      })
      .map(function (w) {
        return ''.concat(w.from, ' ').concat(w.to);
      }),
  );
  return children.every(function (a) {
    return children.every(function (b) {
      return a === b || direct.has(''.concat(a, ' ').concat(b));
    });
  });
}
/** Ways from one state to all children of `parent` become one way to `parent`. */
function toParent(parent, ways) {
  var inside = function (path) {
    return path === parent.path || path.startsWith(''.concat(parent.path, '.'));
  };
  var children = parent.states.map(function (s) {
    return s.path;
  });
  var sources = new Set(
    ways
      .filter(function (w) {
        return !inside(w.from);
      })
      .map(function (w) {
        return ''.concat(w.from, ' ').concat(w.event);
      }),
  );
  var out = __spreadArray([], ways, true);
  var _loop_2 = function (source) {
    var own = out.filter(function (w) {
      return ''.concat(w.from, ' ').concat(w.event) === source && children.includes(w.to);
    });
    var first = own[0];
    if (first === undefined || own.length < children.length || children.length < 2) return 'continue';
    out = out
      .map(function (w) {
        return w === first ? __assign(__assign({}, w), { to: parent.path }) : w;
      })
      .filter(function (w) {
        return !own.includes(w) || w === first;
      });
  };
  for (var _i = 0, sources_1 = sources; _i < sources_1.length; _i++) {
    var source = sources_1[_i];
    _loop_2(source);
  }
  return out;
}
/** The same way out of several children becomes a way out of `parent`. */
function fromParent(parent, ways, note) {
  var _a;
  var inside = function (path) {
    return path === parent.path || path.startsWith(''.concat(parent.path, '.'));
  };
  var children = parent.states.map(function (s) {
    return s.path;
  });
  var byWay = new Map();
  for (var _i = 0, ways_1 = ways; _i < ways_1.length; _i++) {
    var w = ways_1[_i];
    if (children.includes(w.from) && !inside(w.to))
      byWay.set(
        ''.concat(w.event, ' ').concat(w.to),
        __spreadArray(
          __spreadArray(
            [],
            (_a = byWay.get(''.concat(w.event, ' ').concat(w.to))) !== null && _a !== void 0 ? _a : [],
            true,
          ),
          [w],
          false,
        ),
      );
  }
  var out = __spreadArray([], ways, true);
  var _loop_3 = function (same) {
    var first = same[0];
    if (first === undefined || same.length < SAME_WAY) return 'continue';
    var missing = parent.states
      .filter(function (s) {
        return !same.some(function (w) {
          return w.from === s.path;
        });
      })
      .map(function (s) {
        return s.key;
      });
    if (missing.length > 0)
      note(
        parent.path,
        ''
          .concat(first.event === '' ? 'always' : first.event, ' to ')
          .concat(first.to, ': not from ')
          .concat(missing.join(', '), '.'),
      );
    out = out.filter(function (w) {
      return !same.includes(w) || w === first;
    });
    out = out.map(function (w) {
      return w === first ? __assign(__assign({}, w), { from: parent.path }) : w;
    });
  };
  for (var _b = 0, _c = byWay.values(); _b < _c.length; _b++) {
    var same = _c[_b];
    _loop_3(same);
  }
  return out;
}
function merged(ways) {
  var _a;
  var edges = new Map();
  for (var _i = 0, ways_2 = ways; _i < ways_2.length; _i++) {
    var _b = ways_2[_i],
      from = _b.from,
      to = _b.to,
      event_1 = _b.event;
    var key = ''.concat(from, ' ').concat(to);
    var edge = (_a = edges.get(key)) !== null && _a !== void 0 ? _a : { from: from, to: to, events: [] };
    if (!edge.events.includes(event_1)) edge.events.push(event_1);
    edges.set(key, edge);
  }
  return __spreadArray([], edges.values(), true);
}
