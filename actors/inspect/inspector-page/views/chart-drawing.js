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
import { useEffect, useRef } from 'preact/hooks';
import { liftToSiblings } from '../../../../machines/charts/sibling-ways.ts';
import { timeText } from '../model/clock-text.ts';
import { leafOf, toneOf, withParents } from '../model/state-names.ts';
import { roundedPath, routeWay } from '../model/way-route.ts';
import * as s from '../session/session.ts';
import { goTo } from '../session/travel.ts';
import { memo } from './memo.ts';
/** A machine's chart with its active states lit, the ways that were taken and the last one marked. */
export function Chart(_a) {
  var _b, _c, _d;
  var layout = _a.layout,
    state = _a.state,
    title = _a.title,
    ways = _a.ways,
    latest = _a.latest,
    hover = _a.hover,
    onHover = _a.onHover;
  var lit = new Set(withParents(state));
  var visited = new Set(
    ways.flatMap(function (way) {
      return __spreadArray(__spreadArray([], withParents(way.from), true), withParents(way.to), true);
    }),
  );
  var enteredAt = new Map();
  for (var _i = 0, ways_1 = ways; _i < ways_1.length; _i++) {
    var _e = ways_1[_i],
      to = _e.to,
      last = _e.last;
    enteredAt.set(to, Math.max(last, (_b = enteredAt.get(to)) !== null && _b !== void 0 ? _b : -1));
  }
  var drawn = new Map();
  for (var _f = 0, ways_2 = ways; _f < ways_2.length; _f++) {
    var way = ways_2[_f];
    var lifted = liftToSiblings(way.from, way.to);
    if (lifted === null) continue;
    var key = ''.concat(lifted.from, '>').concat(lifted.to);
    var known = drawn.get(key);
    var last = way.from === (latest === null || latest === void 0 ? void 0 : latest.from) && way.to === latest.to;
    var d =
      (_c = known === null || known === void 0 ? void 0 : known.d) !== null && _c !== void 0
        ? _c
        : roundedPath(routeWay(layout, way.from, way.to));
    drawn.set(key, {
      d: d,
      times:
        way.times +
        ((_d = known === null || known === void 0 ? void 0 : known.times) !== null && _d !== void 0 ? _d : 0),
      last: last || (known === null || known === void 0 ? void 0 : known.last) === true,
      way: last || known === undefined || known.way.last < way.last ? way : known.way,
    });
  }
  var taken = __spreadArray([], drawn.entries(), true)
    .filter(function (_a) {
      var w = _a[1];
      return w.d !== '';
    })
    .sort(function (a, b) {
      return Number(a[1].last) - Number(b[1].last);
    });
  var drawing = useRef(null);
  useEffect(
    function () {
      var _a, _b;
      // A chart that is taller than its place: the state that is lit comes into view.
      (_b = (_a = drawing.current) === null || _a === void 0 ? void 0 : _a.querySelector('.state[data-lit="true"]')) ===
        null || _b === void 0
        ? void 0
        : _b.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    },
    [state, layout],
  );
  return _jsxs('svg', {
    ref: drawing,
    class: 'chart',
    viewBox: '-2 -2 '.concat(String(layout.width + 4), ' ').concat(String(layout.height + 4)),
    width: layout.width + 4,
    height: layout.height + 4,
    role: 'img',
    'aria-label': ''
      .concat(title, ': ')
      .concat(state)
      .concat(latest === undefined ? '' : ', came from '.concat(latest.from)),
    'data-state': state,
    children: [
      _jsx('defs', {
        children: ['', '-taken', '-last'].map(function (kind) {
          return _jsx(
            'marker',
            {
              id: 'arrow'.concat(kind),
              viewBox: '0 0 8 8',
              refX: '7',
              refY: '4',
              markerWidth: kind === '-last' ? 5 : 6,
              markerHeight: kind === '-last' ? 5 : 6,
              orient: 'auto-start-reverse',
              children: _jsx('path', { d: 'M0 0.5 8 4 0 7.5z', class: 'arrow'.concat(kind) }),
            },
            kind,
          );
        }),
      }),
      __spreadArray([], layout.boxes.values(), true)
        .filter(function (box) {
          return box.kind === 'compound' || box.kind === 'parallel';
        })
        .map(function (box) {
          return _jsx(Compound, { box: box, lit: lit.has(box.path) }, box.path);
        }),
      layout.lines
        .filter(function (line) {
          return !drawn.has(''.concat(line.from, '>').concat(line.to));
        })
        .map(function (line) {
          return _jsx(
            'path',
            {
              d: roundedPath(line.points),
              class: 'way',
              'marker-end': 'url(#arrow)',
              children: _jsx('title', {
                children: ''
                  .concat(line.from, ' \u2192 ')
                  .concat(line.to)
                  .concat(line.events.some(Boolean) ? ' on '.concat(line.events.filter(Boolean).join(', ')) : ''),
              }),
            },
            ''.concat(line.from, '>').concat(line.to),
          );
        }),
      _jsx(Possible, { layout: layout, hover: hover, drawn: drawn }),
      taken.map(function (_a) {
        var key = _a[0],
          _b = _a[1],
          d = _b.d,
          times = _b.times,
          last = _b.last,
          way = _b.way;
        return _jsxs(
          'g',
          {
            children: [
              _jsx('path', {
                d: d,
                class: last ? 'way-last' : 'way-taken',
                'marker-end': last ? 'url(#arrow-last)' : 'url(#arrow-taken)',
                children: _jsx('title', {
                  children: ''
                    .concat(way.from, ' \u2192 ')
                    .concat(way.to, ', ')
                    .concat(String(times), ' times, last at step ')
                    .concat(String(way.last + 1)),
                }),
              }),
              last && _jsx('path', { d: d, pathLength: 1, class: 'way-run' }, 'run '.concat(String(way.last))),
            ],
          },
          key,
        );
      }),
      __spreadArray([], layout.boxes.values(), true)
        .filter(function (box) {
          return box.kind !== 'compound' && box.kind !== 'parallel';
        })
        .map(function (box) {
          var _a, _b, _c;
          return _jsx(
            Leaf,
            {
              box: box,
              lit: box.path === state,
              was: (latest === null || latest === void 0 ? void 0 : latest.from) === box.path,
              visited: visited.has(box.path),
              entered: (_a = enteredAt.get(box.path)) !== null && _a !== void 0 ? _a : -1,
              at:
                (_c = s.steps.store.at((_b = enteredAt.get(box.path)) !== null && _b !== void 0 ? _b : -1)) === null ||
                _c === void 0
                  ? void 0
                  : _c.at,
              onHover: onHover,
            },
            box.path,
          );
        }),
    ],
  });
}
function Compound(_a) {
  var box = _a.box,
    lit = _a.lit;
  return _jsxs('g', {
    class: 'compound',
    'data-lit': lit,
    'data-path': box.path,
    children: [
      _jsx('rect', { x: box.x, y: box.y, width: box.w, height: box.h, rx: 10 }),
      _jsx('text', { x: box.x + 14, y: box.y + 16, children: box.key }),
      _jsx('title', {
        children: box.description === '' ? box.path : ''.concat(box.path, ': ').concat(box.description),
      }),
    ],
  });
}
var Leaf = memo(function (_a) {
  var box = _a.box,
    lit = _a.lit,
    was = _a.was,
    visited = _a.visited,
    entered = _a.entered,
    at = _a.at,
    onHover = _a.onHover;
  var words = [box.description === '' ? box.path : ''.concat(box.path, ': ').concat(box.description)];
  if (entered >= 0)
    words.push(
      'entered at step '
        .concat(String(entered + 1))
        .concat(at === undefined ? '' : ', '.concat(timeText(at)), '; click goes there'),
    );
  return _jsxs('g', {
    class: 'state tone-'.concat(toneOf(box.path)),
    'data-path': box.path,
    'data-lit': lit,
    'data-was': was,
    'data-visited': visited || lit,
    'data-final': box.kind === 'final',
    onMouseEnter: function () {
      onHover(box.path);
    },
    onMouseLeave: function () {
      onHover('');
    },
    onClick: function () {
      if (entered >= 0) goTo(entered);
    },
    children: [
      _jsx('rect', { x: box.x, y: box.y, width: box.w, height: box.h, rx: 7, class: 'state-box' }),
      box.kind === 'final' &&
        _jsx('rect', { x: box.x + 3, y: box.y + 3, width: box.w - 6, height: box.h - 6, rx: 5, class: 'state-final' }),
      box.initial && _jsx('circle', { cx: box.x, cy: box.y + box.h / 2, r: 3, class: 'state-initial' }),
      _jsx('text', { x: box.x + box.w / 2, y: box.y + box.h / 2 + 4, children: leafOf(box.path) }),
      _jsx('title', { children: words.join('\n') }),
    ],
  });
});
/** Where a state of a dense level could go, faint, while the pointer is on it. */
function Possible(_a) {
  var layout = _a.layout,
    hover = _a.hover,
    drawn = _a.drawn;
  var from = layout.boxes.get(hover);
  if (from === undefined || from.row < 0) return null;
  var siblings = __spreadArray([], layout.boxes.values(), true).filter(function (box) {
    var _a;
    return (
      box.row >= 0 &&
      box.path !== hover &&
      ((_a = liftToSiblings(hover, box.path)) === null || _a === void 0 ? void 0 : _a.to) === box.path &&
      !drawn.has(''.concat(hover, '>').concat(box.path))
    );
  });
  return _jsx('g', {
    class: 'possible',
    children: siblings.map(function (box) {
      return _jsx('path', { d: roundedPath(routeWay(layout, hover, box.path)), class: 'way' }, box.path);
    }),
  });
}
