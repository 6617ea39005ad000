import { jsx as _jsx, jsxs as _jsxs } from 'preact/jsx-runtime';
import { VIEWS } from '../model/moment.ts';
import * as s from '../session/session.ts';
import { setView } from '../session/travel.ts';
import { Empty } from './empty.tsx';
import { ExplainView } from './explain-view.tsx';
import { MachineChips } from './machine-chips.tsx';
import { NodePage } from './node-page.tsx';
import { PodHead } from './pod-head.tsx';
import { SequenceView } from './sequence-view.tsx';
import { StateChart } from './state-chart.tsx';
import { TimeLine } from './time-line.tsx';
import { Transport } from './transport.tsx';
import { TreeView } from './tree-view.tsx';
/** The chosen pod: head, moment, chart, and the chosen view of it; the node with all its pods while none is chosen. */
export function PodPage() {
  if (s.uid.value === '') return _jsx(NodePage, {});
  if (s.total.value === 0 && s.podsLoaded.value && s.pod.value === undefined) {
    return _jsx(Empty, {
      title: 'No such pod',
      children: s.stepsError.value === '' ? 'The journals do not know it (any more).' : s.stepsError.value,
    });
  }
  return _jsxs('div', {
    class: 'page',
    'data-wide': s.wide.value,
    children: [
      _jsx(PodHead, {}),
      _jsx(Transport, {}),
      _jsxs('section', {
        class: 'picture',
        'aria-label': 'State machines',
        children: [_jsx(MachineChips, {}), _jsx(StateChart, {})],
      }),
      _jsxs('section', { class: 'panel', 'aria-label': 'Details', children: [_jsx(Tabs, {}), _jsx(Panel, {})] }),
    ],
  });
}
var NAMES = {
  timeline: 'Time line',
  sequence: 'Sequence',
  spec: 'Spec',
  status: 'Status',
  context: 'Context',
  message: 'Message',
  explain: 'Explain',
};
function Tabs() {
  return _jsxs('div', {
    class: 'tabs',
    role: 'group',
    'aria-label': 'Views',
    children: [
      VIEWS.map(function (view, i) {
        return _jsx(
          'button',
          {
            type: 'button',
            class: 'tab',
            'aria-pressed': view === s.view.value,
            title: ''.concat(NAMES[view], ' (').concat(String(i + 1), ')'),
            onClick: function () {
              setView(view);
            },
            children: NAMES[view],
          },
          view,
        );
      }),
      _jsx('span', { class: 'grow' }),
      _jsx('button', {
        type: 'button',
        class: 'icon',
        'aria-pressed': s.wide.value,
        'aria-label': 'Wide panel',
        title: 'Wide panel (w)',
        onClick: function () {
          s.wide.value = !s.wide.value;
        },
        children: _jsx('svg', {
          viewBox: '0 0 16 16',
          width: '16',
          height: '16',
          'aria-hidden': 'true',
          children: _jsx('path', { d: 'M6 4 2 8l4 4M10 4l4 4-4 4M2 8h12', class: 'line-shape' }),
        }),
      }),
    ],
  });
}
function Panel() {
  var view = s.view.value;
  switch (view) {
    case 'timeline':
      return _jsx(TimeLine, {});
    case 'sequence':
      return _jsx(SequenceView, {});
    case 'explain':
      return _jsx(ExplainView, {});
    case 'spec':
    case 'status':
    case 'context':
    case 'message':
      return _jsx(TreeView, { of: view }, view);
  }
}
