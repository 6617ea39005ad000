import { jsx as _jsx, jsxs as _jsxs, Fragment as _Fragment } from 'preact/jsx-runtime';
import { useSignal } from '@preact/signals';
import { countText, dateTimeText, spanText } from '../model/clock-text.ts';
import { areaPaths, BAND_NAMES, bandCounts, BANDS, mostPods } from '../model/fleet-areas.ts';
import { spanAt, spanEnd, spanEnds } from '../model/span-place.ts';
import { timeTicks } from '../model/time-ticks.ts';
import { goBySpans, goToMoment, goToSpan } from '../session/node-travel.ts';
import { overviewAt } from '../session/node-overview.ts';
import * as s from '../session/session.ts';
/** Units of the drawing, which is stretched to its place. */
var WIDE = 1000;
var TALL = 112;
/** Part of the width within which a time at either end would be cut. */
var EDGE = 0.045;
/** A slider of milliseconds would go by one of them: keys go by spans of time. */
var KEYS = {
  ArrowLeft: function () {
    goBySpans(-1);
  },
  ArrowRight: function () {
    goBySpans(1);
  },
  PageUp: function (length) {
    goBySpans(-Math.ceil(length / 10));
  },
  PageDown: function (length) {
    goBySpans(Math.ceil(length / 10));
  },
  Home: function () {
    goToSpan(0);
  },
  End: function () {
    goToMoment(null);
  },
};
/** How many pods were in which kind of state over time; the slider in it goes to a moment of that. */
export function FleetChart(_a) {
  var _b, _c;
  var told = _a.told;
  var hovered = useSignal(-1);
  var history = told.history,
    from = told.from;
  var live = ((_b = s.about.value) === null || _b === void 0 ? void 0 : _b.mode) === 'live';
  var to = Math.max(from + 1, told.to, live ? s.now.value : 0);
  var chosen = spanAt(history, overviewAt.value);
  var shown = hovered.value >= 0 && hovered.value < history.length ? hovered.value : chosen;
  var counts = bandCounts(history);
  var ends = spanEnds(history, from, to, WIDE);
  var paths = areaPaths(counts, ends, { height: TALL, thin: 2 });
  var at = shown === history.length - 1 ? to : spanEnd(history, shown);
  var percent = function (moment) {
    return ''.concat((((moment - from) / (to - from)) * 100).toFixed(3), '%');
  };
  var placeOf = function (number) {
    var _a;
    return ''.concat((((_a = ends[number]) !== null && _a !== void 0 ? _a : WIDE) / WIDE) * 100, '%');
  };
  return _jsxs('section', {
    class: 'fleet',
    'aria-label': 'Pods by state over time',
    children: [
      _jsxs('div', {
        class: 'fleet-head',
        children: [
          _jsx('h3', { children: 'Pods over time' }),
          _jsx('ul', {
            class: 'fleet-legend',
            'aria-live': 'off',
            children: BANDS.toReversed().map(function (tone) {
              var _a;
              return _jsxs(
                'li',
                {
                  'data-tone': tone,
                  'data-none': counts[tone][shown] === 0,
                  children: [
                    _jsx('i', { class: 'dot tone-'.concat(tone), 'aria-hidden': 'true' }),
                    BAND_NAMES[tone],
                    ' ',
                    _jsx('b', {
                      class: 'mono',
                      children: countText((_a = counts[tone][shown]) !== null && _a !== void 0 ? _a : 0),
                    }),
                  ],
                },
                tone,
              );
            }),
          }),
          _jsx('span', {
            class: 'fleet-at mono quiet',
            title: ''.concat(spanText(to - at), ' before the end'),
            children: dateTimeText(at).slice(0, 19),
          }),
          _jsxs('button', {
            type: 'button',
            class: 'small live',
            'aria-pressed': overviewAt.value === null,
            onClick: function () {
              goToMoment(null);
            },
            title: 'Follow the newest moment (l)',
            children: [_jsx('i', { class: 'dot', 'aria-hidden': 'true' }), live ? 'Live' : 'End'],
          }),
        ],
      }),
      _jsxs('div', {
        class: 'fleet-plot',
        children: [
          _jsx('span', { class: 'fleet-most mono quiet', children: countText(mostPods(counts, history.length)) }),
          _jsx('svg', {
            viewBox: '0 0 '.concat(String(WIDE), ' ').concat(String(TALL)),
            preserveAspectRatio: 'none',
            'aria-hidden': 'true',
            children: BANDS.map(function (tone) {
              var d = paths.get(tone);
              return d === undefined
                ? null
                : _jsx('path', { d: d, class: 'band tone-'.concat(tone), 'data-tone': tone }, tone);
            }),
          }),
          hovered.value >= 0 &&
            _jsx('i', { class: 'fleet-hover', style: { left: placeOf(shown) }, 'aria-hidden': 'true' }),
          overviewAt.value !== null &&
            _jsxs(_Fragment, {
              children: [
                _jsx('i', { class: 'fleet-after', style: { left: placeOf(chosen) }, 'aria-hidden': 'true' }),
                _jsx('i', { class: 'fleet-cursor', style: { left: placeOf(chosen) }, 'aria-hidden': 'true' }),
              ],
            }),
          _jsx('input', {
            type: 'range',
            min: from,
            max: to,
            step: 1,
            value: (_c = overviewAt.value) !== null && _c !== void 0 ? _c : to,
            'aria-label': 'Moment of the node',
            'aria-valuetext': ''.concat(dateTimeText(at), ': ').concat(
              BANDS.map(function (tone) {
                var _a;
                return ''
                  .concat(String((_a = counts[tone][shown]) !== null && _a !== void 0 ? _a : 0), ' ')
                  .concat(BAND_NAMES[tone]);
              }).join(', '),
            ),
            onInput: function (event) {
              goToSpan(spanAt(history, Number(event.currentTarget.value)));
            },
            onKeyDown: function (event) {
              var move = KEYS[event.key];
              if (move === undefined) return;
              event.preventDefault();
              move(history.length);
            },
            onPointerMove: function (event) {
              var box = event.currentTarget.getBoundingClientRect();
              hovered.value = spanAt(history, from + ((event.clientX - box.left) / box.width) * (to - from));
            },
            onPointerLeave: function () {
              hovered.value = -1;
            },
          }),
        ],
      }),
      _jsx('div', {
        class: 'fleet-axis mono quiet',
        'aria-hidden': 'true',
        children: timeTicks(from, to, 7, new Date(to).getTimezoneOffset())
          .filter(function (tick) {
            return tick.at - from > EDGE * (to - from) && to - tick.at > EDGE * (to - from);
          })
          .map(function (tick) {
            return _jsx('span', { style: { left: percent(tick.at) }, children: tick.text }, tick.at);
          }),
      }),
    ],
  });
}
