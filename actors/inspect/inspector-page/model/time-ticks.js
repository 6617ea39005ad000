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
var SECOND = 1000;
var MINUTE = 60 * SECOND;
var HOUR = 60 * MINUTE;
var DAY = 24 * HOUR;
/** Distances of ticks that people count in. */
var STEPS = __spreadArray(
  __spreadArray(
    __spreadArray(
      __spreadArray(
        [],
        [1, 2, 5, 10, 15, 30].map(function (n) {
          return n * SECOND;
        }),
        true,
      ),
      [1, 2, 5, 10, 15, 30].map(function (n) {
        return n * MINUTE;
      }),
      true,
    ),
    [1, 2, 3, 6, 12].map(function (n) {
      return n * HOUR;
    }),
    true,
  ),
  [1, 2, 7, 14, 28].map(function (n) {
    return n * DAY;
  }),
  true,
);
/**
 * At most `most` round moments between two, as local times.
 * @param offset minutes that local time is behind UTC (`Date.getTimezoneOffset`)
 */
export function timeTicks(from, to, most, offset) {
  var _a;
  var span = to - from;
  if (!(span > 0) || most < 1) return [];
  var step =
    (_a = STEPS.find(function (s) {
      return span / s <= most;
    })) !== null && _a !== void 0
      ? _a
      : Math.ceil(span / most / DAY) * DAY;
  var shift = offset * MINUTE;
  var ticks = [];
  for (var at = Math.ceil((from - shift) / step) * step + shift; at <= to; at += step)
    ticks.push({ at: at, text: tickText(at - shift, step) });
  return ticks;
}
/** @param local the moment as if it were UTC */
function tickText(local, step) {
  var text = new Date(local).toISOString();
  var midnight = local % DAY === 0;
  if (step >= DAY || (midnight && step >= HOUR)) return text.slice(5, 10);
  return step < MINUTE ? text.slice(11, 19) : text.slice(11, 16);
}
