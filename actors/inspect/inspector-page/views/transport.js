import { jsx as _jsx, jsxs as _jsxs } from 'preact/jsx-runtime';
import { useComputed } from '@preact/signals';
import { countText, dateTimeText, spanText } from '../model/clock-text.ts';
import { stripCells } from '../model/lanes.ts';
import { changeSpeed, togglePlay } from '../session/play.ts';
import * as s from '../session/session.ts';
import { goBy, goLive, goTo } from '../session/travel.ts';
var CELLS = 240;
/** The slider through all steps with what happened above it, and the buttons of the playback. */
export function Transport() {
  var _a, _b;
  var index = s.index.value;
  var last = s.total.value - 1;
  var at = (_a = s.line.value) === null || _a === void 0 ? void 0 : _a.at;
  var end = ((_b = s.about.value) === null || _b === void 0 ? void 0 : _b.mode) === 'files' ? 'End' : 'Live';
  return _jsxs('section', {
    class: 'transport',
    'aria-label': 'Moment',
    children: [
      _jsxs('div', {
        class: 'buttons',
        children: [
          _jsx('button', {
            type: 'button',
            class: 'icon',
            onClick: function () {
              goBy(-1);
            },
            disabled: index <= s.first.value,
            'aria-label': 'One step back',
            title: 'One step back (\u2190)',
            children: _jsx('svg', {
              viewBox: '0 0 16 16',
              width: '16',
              height: '16',
              'aria-hidden': 'true',
              children: _jsx('path', { d: 'M10 3 5 8l5 5', class: 'line-shape' }),
            }),
          }),
          _jsx('button', {
            type: 'button',
            class: 'icon play',
            onClick: togglePlay,
            disabled: last < 1,
            'aria-label': s.playing.value ? 'Pause' : 'Play',
            title: 'Play, pause (Space)',
            children: _jsx('svg', {
              viewBox: '0 0 16 16',
              width: '16',
              height: '16',
              'aria-hidden': 'true',
              children: _jsx('path', {
                d: s.playing.value ? 'M4 3h3v10H4zM9 3h3v10H9z' : 'M4.5 2.5v11l9-5.5z',
                class: 'fill-shape',
              }),
            }),
          }),
          _jsx('button', {
            type: 'button',
            class: 'icon',
            onClick: function () {
              goBy(1);
            },
            disabled: index >= last,
            'aria-label': 'One step on',
            title: 'One step on (\u2192)',
            children: _jsx('svg', {
              viewBox: '0 0 16 16',
              width: '16',
              height: '16',
              'aria-hidden': 'true',
              children: _jsx('path', { d: 'm6 3 5 5-5 5', class: 'line-shape' }),
            }),
          }),
          _jsxs('span', {
            class: 'speed',
            role: 'group',
            'aria-label': 'Speed',
            children: [
              _jsx('button', {
                type: 'button',
                class: 'icon',
                onClick: function () {
                  changeSpeed(-1);
                },
                'aria-label': 'Slower',
                title: 'Slower (\u2212)',
                children: '\u2212',
              }),
              _jsxs('output', { class: 'mono', 'aria-label': 'Speed', children: [s.speed.value, '\u00D7'] }),
              _jsx('button', {
                type: 'button',
                class: 'icon',
                onClick: function () {
                  changeSpeed(1);
                },
                'aria-label': 'Faster',
                title: 'Faster (+)',
                children: '+',
              }),
            ],
          }),
        ],
      }),
      _jsxs('div', {
        class: 'slider',
        children: [
          _jsx(Strip, {}),
          _jsx('input', {
            type: 'range',
            min: s.first.value,
            max: Math.max(0, last),
            step: 1,
            value: Math.max(0, index),
            'aria-label': 'Step',
            'aria-valuetext': 'step '
              .concat(String(index + 1), ' of ')
              .concat(String(last + 1))
              .concat(at === undefined ? '' : ', '.concat(dateTimeText(at))),
            onInput: function (event) {
              s.playing.value = false;
              goTo(Number(event.currentTarget.value));
            },
          }),
        ],
      }),
      _jsxs('div', {
        class: 'where mono',
        children: [
          _jsxs('span', {
            children: [
              _jsx('b', { children: countText(Math.max(0, index + 1)) }),
              _jsxs('span', { class: 'quiet', children: ['/', countText(last + 1)] }),
            ],
          }),
          _jsx('span', {
            class: 'quiet',
            title: at === undefined ? '' : ''.concat(spanText(s.now.value - at), ' ago'),
            children: at === undefined ? '…' : dateTimeText(at),
          }),
        ],
      }),
      _jsxs('button', {
        type: 'button',
        class: 'small live',
        'aria-pressed': s.following.value,
        onClick: goLive,
        title: 'Follow the newest step (l)',
        children: [_jsx('i', { class: 'dot', 'aria-hidden': 'true' }), end],
      }),
    ],
  });
}
function Strip() {
  var cells = useComputed(function () {
    void s.stepsVersion.value;
    return stripCells(s.total.value, CELLS, function (i) {
      return s.steps.store.at(i);
    });
  });
  var count = cells.value.length;
  return _jsx('svg', {
    class: 'strip',
    viewBox: '0 0 '.concat(String(Math.max(1, count)), ' 20'),
    preserveAspectRatio: 'none',
    'aria-hidden': 'true',
    children: cells.value.map(function (cell, i) {
      return _jsxs(
        'g',
        {
          children: [
            cell.lane !== null &&
              _jsx('rect', {
                x: i,
                y: cell.moved ? 0 : 8,
                width: count > 120 ? 1 : 0.86,
                height: cell.moved ? 20 : 12,
                class: 'lane-'.concat(cell.lane),
              }),
            cell.failed && _jsx('rect', { x: i, y: 16, width: 1, height: 4, class: 'strip-failed' }),
          ],
        },
        i,
      );
    }),
  });
}
