import { layoutChart } from '../model/chart-layout.ts';
import * as s from '../session/session.ts';
var known = new Map();
/** Layout of a machine's chart for a width, px; made once for each. Null when the server has no such chart. */
export function layoutOf(machine, width) {
  var _a, _b;
  var chart =
    (_a = s.about.value) === null || _a === void 0
      ? void 0
      : _a.charts.find(function (c) {
          return c.id === machine;
        });
  if (chart === undefined) return null;
  var key = ''.concat(machine, ' ').concat(String(width));
  var layout = (_b = known.get(key)) !== null && _b !== void 0 ? _b : layoutChart(chart, width);
  known.set(key, layout);
  return layout;
}
