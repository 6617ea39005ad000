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
import { jsx as _jsx } from 'preact/jsx-runtime';
import { useState } from 'preact/hooks';
import * as s from '../session/session.ts';
import { Chart } from './chart-drawing.tsx';
import { Empty } from './empty.tsx';
import { layoutOf } from './layouts.ts';
import { machinesNow } from './machine-chips.tsx';
import { useWidth } from './use-width.ts';
/** The chosen machine's chart with its active states lit and its last transition marked. */
export function StateChart() {
  var _a;
  var _b = useWidth(),
    ref = _b.ref,
    width = _b.width;
  var _c = useState(''),
    hover = _c[0],
    setHover = _c[1];
  var machines = machinesNow();
  var machine =
    (_a = machines.find(function (m) {
      return m.id === s.moment.value.chart;
    })) !== null && _a !== void 0
      ? _a
      : machines[0];
  var layout = machine === undefined || width === 0 ? null : layoutOf(machine.kind, width);
  return _jsx('div', {
    class: 'chart-box',
    ref: ref,
    children:
      machine === undefined || layout === null
        ? s.about.value !== null &&
          width > 0 &&
          _jsx(Empty, { title: 'No chart', children: 'The server does not know this machine.' })
        : _jsx(
            Chart,
            {
              layout: layout,
              state: machine.state,
              title: machine.id,
              ways:
                machine.id === 'pod'
                  ? __spreadArray([], s.ways.value.values(), true)
                  : ownWay(machine.before, machine.state),
              latest: machine.id === 'pod' ? s.latestWay.value : ownWay(machine.before, machine.state)[0],
              hover: hover,
              onHover: setHover,
            },
            machine.id,
          ),
  });
}
/** What the step itself did to a machine whose history is not loaded. */
function ownWay(before, after) {
  return before === '' || before === after ? [] : [{ from: before, to: after, times: 1, last: s.index.value }];
}
