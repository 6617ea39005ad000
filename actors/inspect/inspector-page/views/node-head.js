import { jsx as _jsx, jsxs as _jsxs } from 'preact/jsx-runtime';
import { dateTimeText, spanText } from '../model/clock-text.ts';
import { leafOf, parentOf, toneOf } from '../model/state-names.ts';
import { copyLink } from '../session/copy-link.ts';
import { overviewAt } from '../session/node-overview.ts';
import * as s from '../session/session.ts';
/** Which node, in which state at the moment, and what is wrong with it. */
export function NodeHead(_a) {
  var _b;
  var _c = _a.told,
    node = _c.node,
    at = _c.at;
  var about = s.about.value;
  var line = s.node.value;
  var newest = overviewAt.value === null;
  var facts = [
    line === null ? '' : ''.concat(newest ? '' : 'now ').concat(line.phase),
    about === null ? '' : 'actorlet '.concat(about.version),
    line === null ? '' : 'began '.concat(dateTimeText(line.startedAt).slice(0, 19)),
  ];
  return _jsxs('header', {
    class: 'node-head',
    children: [
      _jsxs('div', {
        class: 'pod-title',
        children: [
          _jsxs('h2', {
            class: 'mono',
            children: [
              _jsx('span', { class: 'quiet', children: 'node ' }),
              (_b = line === null || line === void 0 ? void 0 : line.name) !== null && _b !== void 0
                ? _b
                : about === null || about === void 0
                  ? void 0
                  : about.nodeName,
            ],
          }),
          _jsx('p', {
            class: 'facts mono quiet',
            children: facts
              .filter(function (fact) {
                return fact !== '';
              })
              .join(' · '),
          }),
        ],
      }),
      _jsxs('div', {
        class: 'pod-now',
        children: [
          node !== null &&
            _jsxs('span', {
              class: 'badge tone-'.concat(toneOf(node.state)),
              'data-state': node.state,
              children: [
                parentOf(node.state) === ''
                  ? ''
                  : _jsxs('span', { class: 'badge-parent', children: [parentOf(node.state), '.'] }),
                leafOf(node.state),
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
      node !== null &&
        node.why !== '' &&
        _jsxs('p', {
          class: 'why',
          title: node.why,
          children: [
            node.why,
            _jsxs('span', {
              class: 'quiet',
              title: dateTimeText(node.since),
              children: [' ', '\u00B7 since ', spanText((newest ? s.now.value : at) - node.since)],
            }),
          ],
        }),
    ],
  });
}
