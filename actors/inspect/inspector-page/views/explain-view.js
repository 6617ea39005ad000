import { jsx as _jsx, jsxs as _jsxs } from 'preact/jsx-runtime';
import { dateTimeText, spanText } from '../model/clock-text.ts';
import * as s from '../session/session.ts';
import { Empty } from './empty.tsx';
function isExplanation(value) {
  return (
    typeof value === 'object' &&
    value !== null &&
    'summary' in value &&
    'causes' in value &&
    Array.isArray(value.causes)
  );
}
/** The one line of an explanation; '' for what is none. */
export function explainSummary(value) {
  return isExplanation(value) ? value.summary : '';
}
/** Why the pod is in this state at the shown moment: the chain of causes, nearest first. */
export function ExplainView() {
  var told = s.explanation.value;
  if (told === null || !isExplanation(told.value)) {
    return _jsx(Empty, { title: 'No explanation for this moment', children: 'The server has none to give.' });
  }
  var _a = told.value,
    summary = _a.summary,
    causes = _a.causes,
    next = _a.next,
    now = _a.now;
  return _jsxs('div', {
    class: 'explain',
    tabIndex: 0,
    'data-stale': told.index !== s.index.value,
    children: [
      _jsx('p', { class: 'explain-summary', children: summary }),
      _jsx('ol', {
        class: 'causes',
        children: causes.map(function (cause, i) {
          return _jsx(CauseRow, { cause: cause, now: now }, i);
        }),
      }),
      next !== undefined &&
        _jsxs('p', {
          class: 'explain-next',
          children: [
            _jsx('b', { children: 'Next:' }),
            ' ',
            next.what,
            ' ',
            _jsxs('span', {
              class: 'mono quiet',
              children: [next.at > now ? 'in '.concat(spanText(next.at - now)) : 'due', ', ', dateTimeText(next.at)],
            }),
          ],
        }),
    ],
  });
}
function CauseRow(_a) {
  var cause = _a.cause,
    now = _a.now;
  return _jsxs('li', {
    children: [
      _jsx('span', { class: 'cause-kind', children: cause.kind }),
      _jsx('span', { class: 'cause-text', children: cause.text }),
      _jsx('span', {
        class: 'mono quiet',
        title: cause.at === 0 ? '' : dateTimeText(cause.at),
        children: cause.at === 0 ? '' : ''.concat(spanText(now - cause.at), ' ago'),
      }),
    ],
  });
}
