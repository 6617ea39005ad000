import { jsx as _jsx, jsxs as _jsxs, Fragment as _Fragment } from 'preact/jsx-runtime';
import { dateTimeText, spanText } from '../model/clock-text.ts';
import { toneOf } from '../model/state-names.ts';
import { openNode } from '../session/node-travel.ts';
import * as s from '../session/session.ts';
/** The node itself, above its pods; also one of whose own machine the journals have no log. */
export function NodeRow() {
  var _a;
  var about = s.about.value;
  var node = s.node.value;
  if (about === null) return null;
  return _jsxs('button', {
    type: 'button',
    id: 'node',
    class: 'node-row',
    'aria-pressed': s.uid.value === '' || s.isNode.value,
    title: 'The node with all its pods (n)'.concat(
      node === null ? '' : '\n'.concat(node.state).concat(node.why === '' ? '' : ': '.concat(node.why)),
    ),
    onClick: openNode,
    children: [
      _jsx('i', { class: 'dot tone-'.concat(node === null ? 'end' : toneOf(node.state)), 'aria-hidden': 'true' }),
      _jsxs('span', {
        class: 'pod-name mono',
        children: [
          _jsx('span', { class: 'quiet', children: 'node' }),
          ' ',
          (_a = node === null || node === void 0 ? void 0 : node.name) !== null && _a !== void 0 ? _a : about.nodeName,
        ],
      }),
      node === null
        ? _jsx('span', { class: 'pod-why', children: 'all pods over time' })
        : _jsxs(_Fragment, {
            children: [
              _jsx('span', {
                class: 'pod-age mono quiet',
                title: 'the agent began '.concat(dateTimeText(node.startedAt)),
                children: spanText(s.now.value - node.startedAt),
              }),
              _jsxs('span', {
                class: 'pod-why',
                children: [
                  _jsx('b', { class: 'text-'.concat(toneOf(node.state)), children: node.state }),
                  _jsxs('span', { class: 'quiet mono', children: [' ', spanText(s.now.value - node.since)] }),
                  node.why === '' ? '' : ' \u00B7 '.concat(node.why),
                ],
              }),
              _jsx('span', { class: 'pod-ready mono quiet', children: node.phase }),
            ],
          }),
    ],
  });
}
