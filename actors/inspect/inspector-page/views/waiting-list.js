import { jsx as _jsx, jsxs as _jsxs } from 'preact/jsx-runtime';
import { useSignal } from '@preact/signals';
import { countText, dateTimeText, spanText } from '../model/clock-text.ts';
import { leafOf, toneOf } from '../model/state-names.ts';
import { overviewAt } from '../session/node-overview.ts';
import * as s from '../session/session.ts';
import { openPod } from '../session/travel.ts';
import { waitingWords } from '../session/waiting-words.ts';
/** So many are named at first: what is slow is to be seen below them. */
var FIRST = 5;
/** The pods that are not where they should be, longest first, with why. */
export function WaitingList(_a) {
  var _b = _a.told,
    waiting = _b.waiting,
    at = _b.at;
  var pods = waiting.pods,
    total = waiting.total;
  var newest = overviewAt.value === null;
  var now = newest ? s.now.value : at;
  var all = useSignal(false);
  var rest = pods.length - FIRST;
  return _jsxs('section', {
    class: 'waiting',
    'aria-label': 'What waits longest',
    children: [
      _jsxs('h3', {
        children: [
          'Waits longest',
          total > 0 && _jsx('span', { class: 'quiet mono', children: countText(total) }),
          _jsx('span', { class: 'grow' }),
          rest > 0 &&
            _jsx('button', {
              type: 'button',
              class: 'small',
              'aria-expanded': all.value,
              onClick: function () {
                all.value = !all.value;
              },
              children: all.value ? 'Fewer' : ''.concat(String(rest), ' more'),
            }),
        ],
      }),
      pods.length === 0
        ? _jsx('p', {
            class: 'quiet none',
            children: s.pods.value.size === 0 ? 'There is no pod.' : 'Every pod is where it should be.',
          })
        : _jsx('ol', {
            children: pods.slice(0, all.value ? pods.length : FIRST).map(function (pod) {
              return _jsx('li', { children: _jsx(Wait, { pod: pod, now: now, newest: newest }) }, pod.uid);
            }),
          }),
    ],
  });
}
function Wait(_a) {
  var _b, _c, _d;
  var pod = _a.pod,
    now = _a.now,
    newest = _a.newest;
  var tone = toneOf(pod.state);
  var words = waitingWords.value.get(pod.uid);
  // Words of another moment would be wrong; what was said a moment ago of a pod that goes on is not.
  var told = words !== undefined && (newest || words.step === pod.step) ? words : undefined;
  var next = (_b = told === null || told === void 0 ? void 0 : told.next) !== null && _b !== void 0 ? _b : null;
  return _jsxs('button', {
    type: 'button',
    class: 'row wait',
    title: (_c = told === null || told === void 0 ? void 0 : told.summary) !== null && _c !== void 0 ? _c : pod.state,
    onClick: function () {
      openPod(pod.uid, newest || pod.step < 0 ? null : pod.step);
    },
    children: [
      _jsx('i', { class: 'dot tone-'.concat(tone), 'aria-hidden': 'true' }),
      _jsxs('span', {
        class: 'row-name mono',
        children: [_jsxs('span', { class: 'quiet', children: [pod.namespace, '/'] }), pod.name],
      }),
      _jsx('span', {
        class: 'row-end mono',
        title: 'since '.concat(dateTimeText(pod.since)),
        children: spanText(now - pod.since),
      }),
      _jsxs('span', {
        class: 'row-why',
        children: [
          _jsx('b', { class: 'text-'.concat(tone), children: leafOf(pod.state) }),
          ' ',
          (_d = told === null || told === void 0 ? void 0 : told.cause) !== null && _d !== void 0 ? _d : pod.why,
          next !== null &&
            _jsxs('span', {
              class: 'quiet',
              children: [
                ' ',
                '\u00B7 ',
                next.what.split(',')[0],
                ' ',
                next.at > now ? 'in '.concat(spanText(next.at - now)) : 'now',
              ],
            }),
        ],
      }),
    ],
  });
}
