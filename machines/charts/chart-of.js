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
/**
 * Reads a machine's definition into plain data. Unlike XState's `toDirectedGraph` it has the eventless transitions
 * (`always`), by which the pod machine moves, and those of the root. States and transitions stand in the order of the definition.
 */
export function chartOf(machine) {
  var transitions = [];
  var root = stateOf(machine.root, transitions);
  return { id: machine.id, root: root, transitions: transitions };
}
function stateOf(node, transitions) {
  var _a, _b;
  for (var _i = 0, _c = node.transitions; _i < _c.length; _i++) {
    var _d = _c[_i],
      event_1 = _d[0],
      ways = _d[1];
    addWays(node, event_1, ways, transitions);
  }
  addWays(node, '', (_a = node.always) !== null && _a !== void 0 ? _a : [], transitions);
  var initial = node.config.initial;
  var path = pathOf(node);
  return __assign(
    __assign(
      {
        path: path,
        key: path === '' ? node.machine.id : node.key,
        kind: node.type === 'history' ? 'atomic' : node.type,
      },
      typeof initial === 'string' && { initial: path === '' ? initial : ''.concat(path, '.').concat(initial) },
    ),
    {
      description: (_b = node.description) !== null && _b !== void 0 ? _b : '',
      states: Object.values(node.states)
        .sort(function (a, b) {
          return a.order - b.order;
        })
        .map(function (child) {
          return stateOf(child, transitions);
        }),
    },
  );
}
function addWays(node, event, ways, transitions) {
  var from = pathOf(node);
  for (var _i = 0, ways_1 = ways; _i < ways_1.length; _i++) {
    var target = ways_1[_i].target;
    var _loop_1 = function (to) {
      if (
        !transitions.some(function (t) {
          return t.from === from && t.to === to && t.event === event;
        })
      )
        transitions.push({ from: from, to: to, event: event });
    };
    for (
      var _a = 0, _b = target === undefined || target.length === 0 ? [from] : target.map(pathOf);
      _a < _b.length;
      _a++
    ) {
      var to = _b[_a];
      _loop_1(to);
    }
  }
}
function pathOf(node) {
  return node.path.join('.');
}
/** All states of a chart below the root, parents before their children. */
export function statesOf(chart) {
  var below = function (state) {
    return state.states.flatMap(function (child) {
      return __spreadArray([child], below(child), true);
    });
  };
  return below(chart.root);
}
