import { jsx as _jsx, jsxs as _jsxs } from 'preact/jsx-runtime';
import { useComputed } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { durationText, timeText } from '../model/clock-text.ts';
import { lanesOf } from '../model/lanes.ts';
import { RowHeights, scrollFor } from '../model/row-window.ts';
import { activations, ARROW_HEIGHT, arrowsOf, heightOf, STEP_PADDING } from '../model/sequence.ts';
import { leafOf, toneOf } from '../model/state-names.ts';
import { BLOCK } from '../model/step-store.ts';
import { loadAround } from '../session/load-steps.ts';
import * as s from '../session/session.ts';
import { goTo } from '../session/travel.ts';
import { Empty } from './empty.tsx';
import { memo } from './memo.ts';
/** Px left of the lanes for number and time. */
var LEFT = 92;
/** Least px between two lanes. */
var NARROWEST = 42;
/** From this gap on the lanes' names fit whole. */
var ROOMY = 60;
var SHORT_NAMES = { supervisor: 'superv.', network: 'net' };
var GUESS = STEP_PADDING + 2 * ARROW_HEIGHT;
/** Steps as a sequence diagram: one column for each party, an arrow for each message and effect. */
export function SequenceView() {
  if (s.total.value === 0) return _jsx(Empty, { title: 'No steps yet', children: s.stepsError.value });
  return _jsx(Diagram, {});
}
function Diagram() {
  var box = useRef(null);
  var _a = useState({ top: 0, height: 600, width: 800 }),
    frame = _a[0],
    setFrame = _a[1];
  var heights = useComputed(function () {
    void s.stepsVersion.value;
    var made = new RowHeights(BLOCK, GUESS);
    made.measure(s.total.value, function (block) {
      var first = block * BLOCK;
      var end = Math.min(first + BLOCK, s.total.value);
      if (s.steps.store.at(Math.max(first, s.first.value)) === undefined) return null;
      var rows = [];
      for (var i = first; i < end; i++) {
        var step = s.steps.store.at(i);
        rows.push(step === undefined ? GUESS : heightOf(step));
      }
      return rows;
    });
    return made;
  }).value;
  var lanes = useComputed(function () {
    void s.stepsVersion.value;
    return lanesOf(s.steps.store.loaded());
  }).value;
  var index = s.index.value;
  useEffect(function () {
    var el = box.current;
    if (el === null) return;
    var look = function () {
      setFrame(function (f) {
        return f.top === el.scrollTop && f.height === el.clientHeight && f.width === el.clientWidth
          ? f
          : { top: el.scrollTop, height: el.clientHeight, width: el.clientWidth };
      });
    };
    var observer = new ResizeObserver(look);
    observer.observe(el);
    el.addEventListener('scroll', look, { passive: true });
    look();
    return function () {
      observer.disconnect();
      el.removeEventListener('scroll', look);
    };
  }, []);
  useLayoutEffect(
    function () {
      var el = box.current;
      if (el === null || index < 0) return;
      var to = scrollFor(el.scrollTop, el.clientHeight - 32, heights.topOf(index), heights.topOf(index + 1));
      if (to !== el.scrollTop) el.scrollTop = to;
    },
    [index, heights],
  );
  var start = Math.max(0, heights.rowAt(frame.top - 200));
  var end = Math.min(s.total.value, heights.rowAt(frame.top + frame.height + 200) + 1);
  useEffect(
    function () {
      loadAround(start, end);
    },
    [start, end],
  );
  var width = Math.max(LEFT + lanes.length * NARROWEST, frame.width);
  var gap = (width - LEFT - 8) / lanes.length;
  var x = function (lane) {
    return xOf(lane, lanes, gap);
  };
  var version = s.stepsVersion.value;
  var at = function (i) {
    return s.steps.store.at(i);
  };
  var rows = [];
  for (var i = start; i < end; i++) {
    rows.push(
      _jsx(
        Step,
        {
          index: i,
          step: at(i),
          top: heights.topOf(i),
          lanes: lanes,
          gap: gap,
          width: width,
          active: i === index,
          version: version,
        },
        i,
      ),
    );
  }
  var total = heights.total;
  return _jsxs('div', {
    class: 'sequence',
    ref: box,
    tabIndex: 0,
    role: 'region',
    'aria-label': 'Sequence of messages',
    children: [
      _jsx('svg', {
        class: 'sequence-head',
        width: width,
        height: 28,
        'aria-hidden': 'true',
        children: lanes.map(function (lane) {
          var _a;
          return _jsx(
            'text',
            {
              x: x(lane),
              y: 18,
              class: 'lane-name lane-'.concat(
                gap < ROOMY ? ((_a = SHORT_NAMES[lane]) !== null && _a !== void 0 ? _a : lane) : lane,
              ),
              children: lane === 'pod' && s.isNode.value ? 'node' : lane,
            },
            lane,
          );
        }),
      }),
      _jsx('div', {
        class: 'vspace',
        style: { height: ''.concat(String(total), 'px'), width: ''.concat(String(width), 'px') },
        children: _jsxs('svg', {
          class: 'sequence-page',
          width: width,
          height: Math.max(0, heights.topOf(end) - heights.topOf(start)),
          viewBox: '0 '
            .concat(String(heights.topOf(start)), ' ')
            .concat(String(width), ' ')
            .concat(String(Math.max(1, heights.topOf(end) - heights.topOf(start)))),
          style: { transform: 'translateY('.concat(String(heights.topOf(start)), 'px)') },
          children: [
            _jsx('defs', {
              children: ['', '-failed'].map(function (kind) {
                return _jsx(
                  'marker',
                  {
                    id: 'tip'.concat(kind),
                    viewBox: '0 0 8 8',
                    refX: '7',
                    refY: '4',
                    markerWidth: '7',
                    markerHeight: '7',
                    orient: 'auto',
                    children: _jsx('path', { d: 'M0 0.5 8 4 0 7.5z', class: 'tip'.concat(kind) }),
                  },
                  kind,
                );
              }),
            }),
            lanes.map(function (lane) {
              return _jsx(
                'line',
                {
                  x1: x(lane),
                  x2: x(lane),
                  y1: heights.topOf(start),
                  y2: heights.topOf(end),
                  class: 'lifeline',
                  'data-lane': lane,
                },
                lane,
              );
            }),
            activations(start, end, at).map(function (work) {
              return _jsx(
                Work,
                { work: work, x: x(work.lane), heights: heights, bottom: heights.topOf(end) },
                ''.concat(String(work.from), ' ').concat(String(work.arrow)),
              );
            }),
            rows,
          ],
        }),
      }),
    ],
  });
}
var xOf = function (lane, lanes, gap) {
  return LEFT + gap * (lanes.indexOf(lane) + 0.5);
};
var yOfArrow = function (top, n) {
  return top + STEP_PADDING / 2 + ARROW_HEIGHT * (n + 0.7);
};
function Work(_a) {
  var work = _a.work,
    x = _a.x,
    heights = _a.heights,
    bottom = _a.bottom;
  var from = yOfArrow(heights.topOf(work.from), work.arrow);
  var to = work.to === Infinity ? bottom : yOfArrow(heights.topOf(work.to), 0);
  return _jsx('rect', {
    x: x - 3,
    y: from,
    width: 6,
    height: Math.max(2, to - from),
    rx: 2,
    class: 'work lane-'.concat(work.lane),
    'data-failed': work.failed,
  });
}
var Step = memo(function (_a) {
  var index = _a.index,
    step = _a.step,
    top = _a.top,
    lanes = _a.lanes,
    gap = _a.gap,
    width = _a.width,
    active = _a.active;
  if (step === undefined) return null;
  var height = heightOf(step);
  var x = function (lane) {
    return xOf(lane, lanes, gap);
  };
  return _jsxs('g', {
    class: 'sstep',
    'data-active': active,
    'data-step': index,
    onClick: function () {
      s.playing.value = false;
      goTo(index);
    },
    children: [
      _jsx('rect', { x: 0, y: top, width: width, height: height, class: 'sstep-back' }),
      _jsx('text', { x: 8, y: yOfArrow(top, 0) + 3, class: 'sstep-time', children: timeText(step.at) }),
      step.before !== step.after &&
        _jsx('text', {
          x: 8,
          y: yOfArrow(top, 0) + 17,
          class: 'sstep-state text-'.concat(toneOf(step.after)),
          children: step.effects.length > 0 ? leafOf(step.after) : '',
        }),
      arrowsOf(step, function (i) {
        return s.steps.store.at(i);
      }).map(function (arrow, n) {
        return _jsx(ArrowLine, { arrow: arrow, y: yOfArrow(top, n), x: x, width: width }, n);
      }),
      step.before !== step.after &&
        _jsx('circle', {
          cx: x('pod'),
          cy: yOfArrow(top, 0),
          r: 4,
          class: 'sstep-dot tone-'.concat(toneOf(step.after)),
        }),
    ],
  });
});
function ArrowLine(_a) {
  var arrow = _a.arrow,
    y = _a.y,
    x = _a.x,
    width = _a.width;
  var from = x(arrow.from);
  var to = x(arrow.to);
  var right = to > from;
  var reach = right ? -2 : 2;
  var ms = arrow.ms === undefined ? '' : ' '.concat(durationText(arrow.ms));
  var title = ''
    .concat(arrow.from, ' \u2192 ')
    .concat(arrow.to, ': ')
    .concat(arrow.text)
    .concat(ms)
    .concat(
      arrow.other === undefined
        ? ''
        : arrow.kind === 'effect'
          ? ', answered in step '.concat(String(arrow.other + 1))
          : ', asked for in step '.concat(String(arrow.other + 1)),
    );
  // A label starts at the arrow's left end and may run on beyond it; it is cut where the page ends.
  var left = Math.min(from, to) + 6;
  var room = Math.max(8, Math.floor((width - left) / 6.1) - ms.length);
  var text = arrow.text.length > room ? ''.concat(arrow.text.slice(0, room - 1), '\u2026') : arrow.text;
  return _jsxs('g', {
    class: 'arrow-line kind-'.concat(arrow.kind),
    'data-failed': arrow.failed,
    children: [
      from === to
        ? _jsx('circle', { cx: from, cy: y, r: 3, class: 'self' })
        : _jsx('line', {
            x1: from,
            x2: to + reach,
            y1: y,
            y2: y,
            'marker-end': arrow.failed ? 'url(#tip-failed)' : 'url(#tip)',
          }),
      _jsxs('text', { x: left, y: y - 4, children: [text, _jsx('tspan', { class: 'arrow-ms', children: ms })] }),
      _jsx('title', { children: title }),
    ],
  });
}
