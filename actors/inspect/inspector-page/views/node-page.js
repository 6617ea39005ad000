import { jsx as _jsx, jsxs as _jsxs } from 'preact/jsx-runtime';
import * as s from '../session/session.ts';
import { overview, overviewError } from '../session/node-overview.ts';
import { Empty } from './empty.tsx';
import { FleetChart } from './fleet-chart.tsx';
import { NodeHead } from './node-head.tsx';
import { NodeMachine } from './node-machine.tsx';
import { SlowCalls } from './slow-calls.tsx';
import { WaitingList } from './waiting-list.tsx';
/** The node with all its pods, at its newest moment or an earlier one: what is shown while no pod is chosen. */
export function NodePage() {
  var told = overview.value;
  if (told === null || s.about.value === null) {
    if (s.connection.value === 'refused')
      return _jsx(Empty, {
        title: 'No access',
        children: 'Open the address that the agent printed: it holds the token.',
      });
    if (overviewError.value !== '')
      return _jsx(Empty, { title: 'The node cannot be shown', children: overviewError.value });
    return _jsxs('div', {
      class: 'node-page',
      'aria-busy': 'true',
      children: [
        _jsx('div', { class: 'skeleton' }),
        _jsx('div', { class: 'skeleton' }),
        _jsx('div', { class: 'skeleton' }),
      ],
    });
  }
  return _jsxs('div', {
    class: 'node-page',
    children: [
      _jsx(NodeHead, { told: told }),
      _jsx(FleetChart, { told: told }),
      _jsxs('div', {
        class: 'node-body',
        'data-machine': told.node !== null,
        children: [
          told.node !== null && _jsx(NodeMachine, { node: told.node, at: told.at }),
          _jsx(WaitingList, { told: told }),
          _jsx(SlowCalls, { told: told }),
        ],
      }),
    ],
  });
}
