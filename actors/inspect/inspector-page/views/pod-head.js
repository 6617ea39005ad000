import { jsx as _jsx, jsxs as _jsxs } from 'preact/jsx-runtime';
import { dateTimeText, spanText } from '../model/clock-text.ts';
import { leafOf, parentOf, toneOf } from '../model/state-names.ts';
import { copyLink } from '../session/copy-link.ts';
import * as s from '../session/session.ts';
import { explainSummary } from './explain-view.tsx';
/** Which pod, in which state at the shown moment, and why. */
export function PodHead() {
  var _a, _b, _c, _d;
  var pod = s.pod.value;
  var state = s.stateNow.value;
  var why = s.following.value
    ? (_a = pod === null || pod === void 0 ? void 0 : pod.why) !== null && _a !== void 0
      ? _a
      : ''
    : '';
  var told =
    ((_b = s.explanation.value) === null || _b === void 0 ? void 0 : _b.index) === s.index.value
      ? explainSummary(s.explanation.value.value)
      : '';
  return _jsxs('header', {
    class: 'pod-head',
    children: [
      _jsxs('div', {
        class: 'pod-title',
        children: [
          _jsxs('h2', {
            class: 'mono',
            children: [
              _jsx('span', {
                class: 'quiet',
                children: s.isNode.value
                  ? 'node '
                  : ''.concat(
                      (_c = pod === null || pod === void 0 ? void 0 : pod.namespace) !== null && _c !== void 0
                        ? _c
                        : '',
                      '/',
                    ),
              }),
              (_d = pod === null || pod === void 0 ? void 0 : pod.name) !== null && _d !== void 0 ? _d : s.uid.value,
            ],
          }),
          pod !== undefined &&
            s.isNode.value &&
            _jsxs('p', { class: 'facts mono quiet', children: [s.following.value ? '' : 'now ', pod.phase] }),
          pod !== undefined &&
            !s.isNode.value &&
            _jsxs('p', {
              class: 'facts mono quiet',
              children: [
                pod.uid,
                ' \u00B7 from ',
                pod.source,
                ' \u00B7 ',
                s.following.value ? '' : 'now ',
                pod.phase === '' ? 'no phase' : pod.phase,
                ' \u00B7 ',
                pod.ready,
                '/',
                pod.containers,
                ' ready',
                pod.restarts > 0 ? ' \u00B7 '.concat(String(pod.restarts), ' restarts') : '',
                pod.gone ? ' · gone' : '',
              ],
            }),
        ],
      }),
      _jsxs('div', {
        class: 'pod-now',
        children: [
          _jsxs('span', {
            class: 'badge tone-'.concat(toneOf(state)),
            'data-state': state,
            children: [
              parentOf(state) === '' ? '' : _jsxs('span', { class: 'badge-parent', children: [parentOf(state), '.'] }),
              leafOf(state),
            ],
          }),
          _jsx('button', {
            type: 'button',
            class: 'small',
            onClick: function () {
              return void copyLink();
            },
            title: 'Copy the link to this moment (c)',
            children: 'Copy link',
          }),
        ],
      }),
      (told !== '' || why !== '') &&
        _jsxs('p', {
          class: 'why',
          title: told === '' ? why : told,
          children: [
            told === '' ? why : told,
            s.following.value &&
              pod !== undefined &&
              _jsxs('span', {
                class: 'quiet',
                title: dateTimeText(pod.since),
                children: [' ', '\u00B7 since ', spanText(s.now.value - pod.since)],
              }),
          ],
        }),
    ],
  });
}
