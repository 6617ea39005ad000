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
import { toneOf } from './state-names.ts';
/** Orders of the list. `attention`: failing first, then waiting, stopping, running, ended; newest change first in each. */
export var SORTS = ['attention', 'name', 'age', 'state', 'restarts', 'steps'];
var URGENCY = { fail: 0, wait: 1, stop: 2, ok: 3, end: 4 };
var byText = function (a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
};
var byName = function (a, b) {
  return byText(a.namespace, b.namespace) || byText(a.name, b.name) || byText(a.uid, b.uid);
};
var ORDERS = {
  attention: function (a, b) {
    return b.since - a.since || byName(a, b);
  },
  name: byName,
  age: function (a, b) {
    return b.startedAt - a.startedAt || byName(a, b);
  },
  state: function (a, b) {
    return byText(a.state, b.state) || b.since - a.since || byName(a, b);
  },
  restarts: function (a, b) {
    return b.restarts - a.restarts || byName(a, b);
  },
  steps: function (a, b) {
    return b.steps - a.steps || byName(a, b);
  },
};
function haystack(p) {
  return ''
    .concat(p.namespace, '/')
    .concat(p.name, ' ')
    .concat(p.state, ' ')
    .concat(p.why, ' ')
    .concat(p.phase, ' ')
    .concat(p.source, ' ')
    .concat(p.uid)
    .toLowerCase();
}
/** The pods that pass the filter, sorted. */
export function listPods(pods, filter, sort) {
  var _a;
  var words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  var states = new Set(filter.states);
  var shown = [];
  var _loop_1 = function (pod) {
    if (states.size > 0 && !states.has(pod.state)) return 'continue';
    if (words.length > 0) {
      var hay_1 = haystack(pod);
      if (
        !words.every(function (word) {
          return hay_1.includes(word);
        })
      )
        return 'continue';
    }
    shown.push(pod);
  };
  for (var _i = 0, pods_1 = pods; _i < pods_1.length; _i++) {
    var pod = pods_1[_i];
    _loop_1(pod);
  }
  if (sort !== 'attention') return shown.sort(ORDERS[sort]);
  // By urgency first: there are five, so each is sorted by itself.
  var groups = [[], [], [], [], []];
  for (var _b = 0, shown_1 = shown; _b < shown_1.length; _b++) {
    var pod = shown_1[_b];
    (_a = groups[URGENCY[toneOf(pod.state)]]) === null || _a === void 0 ? void 0 : _a.push(pod);
  }
  return groups.flatMap(function (group) {
    return group.sort(ORDERS.attention);
  });
}
/** How many pods are in each state, failing states first, then by count. */
export function countStates(pods) {
  var _a;
  var counts = new Map();
  for (var _i = 0, pods_2 = pods; _i < pods_2.length; _i++) {
    var pod = pods_2[_i];
    counts.set(pod.state, ((_a = counts.get(pod.state)) !== null && _a !== void 0 ? _a : 0) + 1);
  }
  return __spreadArray([], counts, true)
    .map(function (_a) {
      var state = _a[0],
        count = _a[1];
      return { state: state, count: count };
    })
    .sort(function (a, b) {
      return URGENCY[toneOf(a.state)] - URGENCY[toneOf(b.state)] || b.count - a.count || byText(a.state, b.state);
    });
}
/** The list after live messages: pods that they name are replaced or added; null takes one out. */
export function mergePods(known, told) {
  var merged = new Map(known);
  for (var _i = 0, told_1 = told; _i < told_1.length; _i++) {
    var _a = told_1[_i],
      uid = _a[0],
      pod = _a[1];
    if (pod === null) merged.delete(uid);
    else merged.set(uid, pod);
  }
  return merged;
}
