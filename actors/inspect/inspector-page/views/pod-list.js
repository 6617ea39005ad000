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
import { jsx as _jsx, jsxs as _jsxs } from 'preact/jsx-runtime';
import { signal } from '@preact/signals';
import { countText, dateTimeText, spanText } from '../model/clock-text.ts';
import { SORTS } from '../model/pod-list.ts';
import { leafOf, toneOf } from '../model/state-names.ts';
import * as s from '../session/session.ts';
import { openPod } from '../session/travel.ts';
import { Empty } from './empty.tsx';
import { memo } from './memo.ts';
import { NodeRow } from './node-row.tsx';
import { VirtualRows } from './virtual-rows.tsx';
var ROW = 44;
/** Uid of the row that the arrow keys are at; it may differ from the open pod. */
var cursor = signal('');
/** All pods: filter, states, order, list. */
export function PodList() {
  var shown = s.shownPods.value;
  return _jsxs('nav', {
    class: 'pods',
    'aria-label': 'Pods',
    children: [
      _jsxs('div', {
        class: 'pods-head',
        children: [
          _jsxs('div', {
            class: 'field',
            children: [
              _jsx('input', {
                id: 'filter',
                type: 'search',
                placeholder: 'Filter: name, namespace, state, why',
                'aria-label': 'Filter the pods',
                spellcheck: false,
                value: s.filterText.value,
                onInput: function (event) {
                  s.filterText.value = event.currentTarget.value;
                },
                onKeyDown: onFilterKey,
              }),
              _jsx('kbd', { 'aria-hidden': 'true', children: '/' }),
            ],
          }),
          _jsx(StateChips, {}),
          _jsxs('div', {
            class: 'pods-sort',
            children: [
              _jsxs('span', {
                class: 'quiet',
                role: 'status',
                children: [
                  shown.length === s.pods.value.size ? 'All' : ''.concat(countText(shown.length), ' of'),
                  ' ',
                  countText(s.pods.value.size),
                ],
              }),
              _jsx('span', { class: 'grow' }),
              _jsxs('label', {
                children: [
                  _jsx('span', { class: 'quiet', children: 'sort' }),
                  ' ',
                  _jsx('select', {
                    value: s.sort.value,
                    onChange: function (event) {
                      s.sort.value = event.currentTarget.value;
                    },
                    children: SORTS.map(function (sort) {
                      return _jsx('option', { value: sort, children: sort }, sort);
                    }),
                  }),
                ],
              }),
            ],
          }),
        ],
      }),
      _jsx(NodeRow, {}),
      shown.length === 0 ? _jsx(NoPods, {}) : _jsx(Rows, {}),
    ],
  });
}
function onFilterKey(event) {
  var _a;
  if (event.key === 'Escape') s.filterText.value = '';
  else if (event.key === 'ArrowDown' || event.key === 'Enter') {
    event.preventDefault();
    var first = s.shownPods.value[0];
    if (first === undefined) return;
    if (event.key === 'Enter') openPod(first.uid);
    cursor.value = first.uid;
    (_a = document.getElementById('pods')) === null || _a === void 0 ? void 0 : _a.focus();
  }
}
function StateChips() {
  var chosen = s.filterStates.value;
  return _jsx('div', {
    class: 'chips',
    role: 'group',
    'aria-label': 'Only these states',
    children: s.stateCounts.value.map(function (_a) {
      var state = _a.state,
        count = _a.count;
      var on = chosen.includes(state);
      return _jsxs(
        'button',
        {
          type: 'button',
          class: 'chip',
          'aria-pressed': on,
          title: state,
          onClick: function () {
            s.filterStates.value = on
              ? chosen.filter(function (c) {
                  return c !== state;
                })
              : __spreadArray(__spreadArray([], chosen, true), [state], false);
          },
          children: [
            _jsx('i', { class: 'dot tone-'.concat(toneOf(state)), 'aria-hidden': 'true' }),
            leafOf(state),
            _jsx('b', { children: countText(count) }),
          ],
        },
        state,
      );
    }),
  });
}
function Rows() {
  var shown = s.shownPods.value;
  var at = function (uid) {
    return uid === ''
      ? -1
      : shown.findIndex(function (pod) {
          return pod.uid === uid;
        });
  };
  var active = at(cursor.value);
  var now = s.now.value;
  var open = s.uid.value;
  var here = cursor.value;
  return _jsx(VirtualRows, {
    id: 'pods',
    class: 'pods-rows',
    role: 'listbox',
    label: 'Pods',
    count: shown.length,
    rowHeight: ROW,
    active: active >= 0 ? active : at(s.uid.value),
    rowId: function (i) {
      var _a, _b;
      return 'pod-'.concat(
        (_b = (_a = shown[i]) === null || _a === void 0 ? void 0 : _a.uid) !== null && _b !== void 0 ? _b : '',
      );
    },
    row: function (i) {
      var _a, _b;
      return _jsx(Row, {
        pod: shown[i],
        now: now,
        open: ((_a = shown[i]) === null || _a === void 0 ? void 0 : _a.uid) === open,
        at: ((_b = shown[i]) === null || _b === void 0 ? void 0 : _b.uid) === here,
      });
    },
    onMove: function (i) {
      var _a, _b;
      cursor.value =
        (_b = (_a = shown[i]) === null || _a === void 0 ? void 0 : _a.uid) !== null && _b !== void 0 ? _b : '';
    },
    onEnter: function (i) {
      var _a, _b;
      openPod((_b = (_a = shown[i]) === null || _a === void 0 ? void 0 : _a.uid) !== null && _b !== void 0 ? _b : '');
    },
  });
}
var Row = memo(function (_a) {
  var pod = _a.pod,
    now = _a.now,
    open = _a.open,
    at = _a.at;
  if (pod === undefined) return null;
  return _jsxs('div', {
    id: 'pod-'.concat(pod.uid),
    class: 'pod',
    role: 'option',
    'aria-selected': open,
    'data-at': at,
    'data-gone': pod.gone,
    onClick: function () {
      cursor.value = pod.uid;
      openPod(pod.uid);
    },
    children: [
      _jsx('i', { class: 'dot tone-'.concat(toneOf(pod.state)), 'aria-hidden': 'true' }),
      _jsx('span', {
        class: 'pod-name mono',
        title: ''.concat(pod.namespace, '/').concat(pod.name),
        children: pod.name,
      }),
      _jsx('span', {
        class: 'pod-age mono quiet',
        title: 'started '.concat(dateTimeText(pod.startedAt)),
        children: spanText(now - pod.startedAt),
      }),
      _jsxs('span', {
        class: 'pod-why',
        title: pod.why === '' ? pod.state : ''.concat(pod.state, ': ').concat(pod.why),
        children: [
          _jsx('b', { class: 'text-'.concat(toneOf(pod.state)), children: leafOf(pod.state) }),
          _jsxs('span', { class: 'quiet mono', children: [' ', spanText(now - pod.since)] }),
          pod.why === '' ? '' : ' \u00B7 '.concat(pod.why),
        ],
      }),
      _jsxs('span', {
        class: 'pod-ready mono quiet',
        title: ''
          .concat(String(pod.ready), ' of ')
          .concat(String(pod.containers), ' containers ready, ')
          .concat(String(pod.restarts), ' restarts'),
        children: [
          pod.restarts > 0 && _jsxs('b', { class: 'restarts', children: ['\u21BB', pod.restarts, ' '] }),
          pod.ready,
          '/',
          pod.containers,
        ],
      }),
    ],
  });
});
function NoPods() {
  if (!s.podsLoaded.value) {
    if (s.connection.value === 'refused') {
      return _jsx(Empty, {
        title: 'No access',
        children: 'Open the address that the agent printed: it holds the token.',
      });
    }
    if (s.connection.value === 'lost')
      return _jsx(Empty, { title: 'The agent does not answer', children: s.trouble.value });
    return _jsx('div', {
      class: 'pods-rows',
      'aria-busy': 'true',
      children: Array.from({ length: 12 }, function (_, i) {
        return _jsx('div', { class: 'skeleton' }, i);
      }),
    });
  }
  if (s.pods.value.size === 0) {
    return s.connection.value === 'files'
      ? _jsx(Empty, { title: 'No pods', children: 'The journals name none.' })
      : _jsx(Empty, { title: 'No pods yet', children: 'As soon as the agent hears of a pod, it stands here.' });
  }
  return _jsx(Empty, {
    title: 'No pod fits',
    children: _jsx('button', {
      type: 'button',
      onClick: function () {
        s.filterText.value = '';
        s.filterStates.value = [];
      },
      children: 'Clear the filter',
    }),
  });
}
