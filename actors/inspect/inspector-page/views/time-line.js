import { jsx as _jsx, jsxs as _jsxs } from 'preact/jsx-runtime';
import { dateTimeText, durationText, timeText } from '../model/clock-text.ts';
import { hasFailed } from '../model/lanes.ts';
import { leafOf, toneOf } from '../model/state-names.ts';
import { loadAround } from '../session/load-steps.ts';
import * as s from '../session/session.ts';
import { goTo } from '../session/travel.ts';
import { Empty } from './empty.tsx';
import { memo } from './memo.ts';
import { VirtualRows } from './virtual-rows.tsx';
var ROW = 28;
/** All steps, one line each. */
export function TimeLine() {
  void s.stepsVersion.value;
  if (s.total.value === 0)
    return _jsx(Empty, {
      title: s.stepsError.value === '' ? 'No steps yet' : 'The steps could not be read',
      children: s.stepsError.value,
    });
  var active = s.index.value;
  var first = s.first.value;
  return _jsx(VirtualRows, {
    id: 'steps',
    class: 'steps',
    role: 'listbox',
    label: 'Steps',
    count: s.total.value,
    rowHeight: ROW,
    active: active,
    rowId: function (i) {
      return 'step-'.concat(String(i));
    },
    row: function (i) {
      var _a;
      return _jsx(Row, {
        index: i,
        step: s.steps.store.at(i),
        before: (_a = s.steps.store.at(i - 1)) === null || _a === void 0 ? void 0 : _a.at,
        active: i === active,
        lost: i < first,
      });
    },
    onMove: function (i) {
      s.playing.value = false;
      goTo(i);
    },
    onWindow: function (_a) {
      var start = _a.start,
        end = _a.end;
      loadAround(start, end);
    },
  });
}
var Row = memo(function (_a) {
  var _b, _c, _d, _e;
  var index = _a.index,
    step = _a.step,
    before = _a.before,
    active = _a.active,
    lost = _a.lost;
  if (step === undefined) {
    return _jsxs('div', {
      class: 'step',
      id: 'step-'.concat(String(index)),
      role: 'option',
      'aria-selected': false,
      children: [
        _jsx('span', { class: 'step-no mono quiet', children: index + 1 }),
        _jsx('span', { class: 'quiet', children: lost ? 'no longer in the journal' : '…' }),
      ],
    });
  }
  var moved = step.before !== step.after;
  var failed = hasFailed(step);
  return _jsxs('div', {
    id: 'step-'.concat(String(index)),
    class: 'step',
    role: 'option',
    'aria-selected': active,
    'data-failed': failed,
    onClick: function () {
      s.playing.value = false;
      goTo(index);
    },
    children: [
      _jsx('span', { class: 'step-no mono quiet', children: index + 1 }),
      _jsx('span', { class: 'step-at mono', title: dateTimeText(step.at), children: timeText(step.at) }),
      _jsx('span', {
        class: 'step-gap mono quiet',
        children: before === undefined ? '' : '+'.concat(durationText(Math.max(0, step.at - before))),
      }),
      _jsxs('span', {
        class: 'step-lane',
        children: [_jsx('i', { class: 'bar lane-'.concat(step.from), 'aria-hidden': 'true' }), step.from],
      }),
      _jsxs('span', {
        class: 'step-text',
        title: [
          step.message,
          step.summary,
          (_b = step.answers) === null || _b === void 0 ? void 0 : _b.error,
          step.fault,
        ]
          .filter(Boolean)
          .join('\n'),
        children: [
          failed && _jsx('b', { class: 'text-fail', children: '\u2715 ' }),
          _jsxs('span', { class: 'step-type mono', children: [step.message, ' '] }),
          step.summary === '' ? _jsx('span', { class: 'step-only mono', children: step.message }) : step.summary,
          failed &&
            _jsxs('span', {
              class: 'text-fail',
              children: [
                ' ',
                (_e =
                  (_c = step.fault) !== null && _c !== void 0
                    ? _c
                    : (_d = step.answers) === null || _d === void 0
                      ? void 0
                      : _d.error) !== null && _e !== void 0
                  ? _e
                  : '',
              ],
            }),
        ],
      }),
      moved &&
        _jsxs('span', {
          class: 'step-to mono text-'.concat(toneOf(step.after)),
          title: ''.concat(step.before, ' \u2192 ').concat(step.after),
          children: ['\u2192 ', leafOf(step.after)],
        }),
      step.effects.length > 0 &&
        _jsxs('span', {
          class: 'step-effects mono quiet',
          title: step.effects
            .map(function (e) {
              return ''.concat(e.type, ' ').concat(e.summary);
            })
            .join('\n'),
          children: [
            step.effects.map(function (e, i) {
              return _jsx('i', { class: 'tick lane-'.concat(e.to), 'aria-hidden': 'true' }, i);
            }),
            step.effects.length,
          ],
        }),
      step.answers !== undefined &&
        _jsx('span', { class: 'step-ms mono quiet', children: durationText(step.answers.ms) }),
    ],
  });
});
