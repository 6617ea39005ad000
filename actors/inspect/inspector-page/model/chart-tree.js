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
import { liftToSiblings } from '../../../../machines/charts/sibling-ways.ts';
/** Ways as ways between siblings, by the path of the state that they lie in ('' for the machine). */
export function edgesByLevel(ways) {
  var _a, _b;
  var levels = new Map();
  for (var _i = 0, ways_1 = ways; _i < ways_1.length; _i++) {
    var _c = ways_1[_i],
      from = _c.from,
      to = _c.to,
      events = _c.events;
    var lifted = liftToSiblings(from, to);
    if (lifted === null) continue;
    var edges = (_a = levels.get(lifted.level)) !== null && _a !== void 0 ? _a : new Map();
    levels.set(lifted.level, edges);
    var key = ''.concat(lifted.from, '>').concat(lifted.to);
    var edge = (_b = edges.get(key)) !== null && _b !== void 0 ? _b : { from: lifted.from, to: lifted.to, events: [] };
    edges.set(key, edge);
    for (var _d = 0, events_1 = events; _d < events_1.length; _d++) {
      var event_1 = events_1[_d];
      if (!edge.events.includes(event_1)) edge.events.push(event_1);
    }
  }
  return new Map(
    __spreadArray([], levels, true).map(function (_a) {
      var level = _a[0],
        edges = _a[1];
      return [level, __spreadArray([], edges.values(), true)];
    }),
  );
}
/** Every state can follow (almost) every other, or no way is left to draw: ways would hide the states. */
export function isDense(states, edges) {
  var n = states.length;
  return n > 2 && (edges.length === 0 || edges.length / (n * (n - 1)) > 0.6);
}
