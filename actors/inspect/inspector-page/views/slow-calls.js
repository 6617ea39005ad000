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
import { dateTimeText, durationText, timeText } from '../model/clock-text.ts';
import { overviewAt } from '../session/node-overview.ts';
import * as s from '../session/session.ts';
import { openPod } from '../session/travel.ts';
/** The calls that took longest, and those that are still under way; each leads to its moment of its pod. */
export function SlowCalls(_a) {
  var _b;
  var _c = _a.told,
    calls = _c.calls,
    at = _c.at;
  var newest =
    overviewAt.value === null && ((_b = s.about.value) === null || _b === void 0 ? void 0 : _b.mode) === 'live';
  var lengthOf = function (call) {
    return call.outcome === 'underWay' && newest ? Math.max(call.ms, s.now.value - call.at) : call.ms;
  };
  var longest = Math.max.apply(Math, __spreadArray([1], calls.map(lengthOf), false));
  return _jsxs('section', {
    class: 'calls',
    'aria-label': 'Slowest calls',
    children: [
      _jsxs('h3', {
        children: [
          'Slowest calls',
          _jsx('span', {
            class: 'quiet mono',
            children: overviewAt.value === null ? '' : 'until '.concat(timeText(at).slice(0, 8)),
          }),
        ],
      }),
      calls.length === 0
        ? _jsx('p', { class: 'quiet none', children: 'No call was made yet.' })
        : _jsx('ol', {
            children: calls.map(function (call) {
              return _jsx(
                'li',
                { children: _jsx(Call, { call: call, ms: lengthOf(call), part: lengthOf(call) / longest }) },
                ''.concat(call.uid, ' ').concat(call.type, ' ').concat(String(call.step)),
              );
            }),
          }),
    ],
  });
}
function Call(_a) {
  var call = _a.call,
    ms = _a.ms,
    part = _a.part;
  var words = { done: '', failed: ' failed', underWay: ' is under way' }[call.outcome];
  return _jsxs('button', {
    type: 'button',
    class: 'row call',
    'data-outcome': call.outcome,
    title: ''
      .concat(call.type, ' ')
      .concat(call.subject)
      .concat(words, '\nof ')
      .concat(call.namespace, '/')
      .concat(call.name, '\nasked for ')
      .concat(dateTimeText(call.at)),
    onClick: function () {
      openPod(call.uid, call.step);
    },
    children: [
      _jsx('i', { class: 'bar lane-'.concat(call.to), 'aria-hidden': 'true' }),
      _jsx('span', { class: 'row-name mono', children: call.type }),
      _jsxs('span', {
        class: 'row-why mono',
        children: [call.name, ' ', _jsx('span', { class: 'call-subject', children: call.subject })],
      }),
      _jsx('span', { class: 'row-at mono quiet', children: timeText(call.at).slice(0, 8) }),
      _jsxs('span', {
        class: 'row-end mono',
        children: [
          call.outcome === 'failed' && _jsx('b', { class: 'text-fail', children: '\u2715 ' }),
          call.outcome === 'underWay' && _jsx('b', { class: 'text-wait', children: '\u2026 ' }),
          durationText(ms),
        ],
      }),
      _jsx('i', {
        class: 'length lane-'.concat(call.to),
        style: { width: ''.concat((part * 100).toFixed(1), '%') },
        'aria-hidden': 'true',
      }),
    ],
  });
}
