import { jsx as _jsx } from 'preact/jsx-runtime';
import { miniCells } from '../model/mini-cells.ts';
import { toneOf } from '../model/state-names.ts';
import * as s from '../session/session.ts';
var CELL = 7;
/** A machine a few millimetres wide: each state a cell, the active one lit. */
export function MiniChart(_a) {
  var _b;
  var kind = _a.kind,
    state = _a.state;
  var chart =
    (_b = s.about.value) === null || _b === void 0
      ? void 0
      : _b.charts.find(function (c) {
          return c.id === kind;
        });
  if (chart === undefined) return null;
  var cells = miniCells(chart);
  var width =
    Math.max.apply(
      Math,
      cells.map(function (c) {
        return c.col + 1;
      }),
    ) *
      CELL -
    2;
  var height =
    Math.max.apply(
      Math,
      cells.map(function (c) {
        return c.row + 1;
      }),
    ) *
      CELL -
    2;
  return _jsx('svg', {
    class: 'mini',
    viewBox: '0 0 '.concat(String(width), ' ').concat(String(height)),
    width: width,
    height: height,
    'aria-hidden': 'true',
    children: cells.map(function (cell) {
      return _jsx(
        'rect',
        {
          x: cell.col * CELL,
          y: cell.row * CELL,
          width: CELL - 2,
          height: CELL - 2,
          rx: 1.5,
          class: cell.path === state ? 'mini-lit tone-'.concat(toneOf(state)) : 'mini-box',
        },
        cell.path,
      );
    }),
  });
}
