import { jsxs as _jsxs, jsx as _jsx } from 'preact/jsx-runtime';
import { countText, dateTimeText, spanText } from '../model/clock-text.ts';
import { overviewAt } from '../session/node-overview.ts';
import * as s from '../session/session.ts';
import { openPod } from '../session/travel.ts';
import { Chart } from './chart-drawing.tsx';
import { layoutOf } from './layouts.ts';
import { useWidth } from './use-width.ts';
var ignore = function () {
  return undefined;
};
/** The node's own machine, with its state at the moment lit. */
export function NodeMachine(_a) {
  var node = _a.node,
    at = _a.at;
  var _b = useWidth(),
    ref = _b.ref,
    width = _b.width;
  var line = s.node.value;
  var layout = width === 0 ? null : layoutOf('node', width);
  var came =
    node.before === '' || node.before === node.state ? [] : [{ from: node.before, to: node.state, times: 1, last: -1 }];
  return _jsxs('section', {
    class: 'node-machine',
    'aria-label': "The node's machine",
    children: [
      _jsxs('h3', {
        children: [
          'Machine',
          _jsxs('span', {
            class: 'quiet mono',
            title: 'since '.concat(dateTimeText(node.since)),
            children: ['for ', spanText((overviewAt.value === null ? s.now.value : at) - node.since)],
          }),
          _jsx('span', { class: 'grow' }),
          line !== null &&
            _jsxs('button', {
              type: 'button',
              class: 'small',
              title: 'Its messages, one by one',
              onClick: function () {
                openPod(line.uid);
              },
              children: [countText(line.steps), ' ', line.steps === 1 ? 'step' : 'steps'],
            }),
        ],
      }),
      _jsx('div', {
        class: 'node-chart',
        ref: ref,
        children:
          layout !== null &&
          _jsx(Chart, {
            layout: layout,
            state: node.state,
            title: 'node',
            ways: came,
            latest: came[0],
            hover: '',
            onHover: ignore,
          }),
      }),
    ],
  });
}
