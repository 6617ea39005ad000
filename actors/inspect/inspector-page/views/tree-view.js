var __assign =
  (this && this.__assign) ||
  function () {
    __assign =
      Object.assign ||
      function (t) {
        for (var s, i = 1, n = arguments.length; i < n; i++) {
          s = arguments[i];
          for (var p in s) if (Object.prototype.hasOwnProperty.call(s, p)) t[p] = s[p];
        }
        return t;
      };
    return __assign.apply(this, arguments);
  };
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
import { jsx as _jsx, jsxs as _jsxs, Fragment as _Fragment } from 'preact/jsx-runtime';
import { useComputed, useSignal } from '@preact/signals';
import { diffTrees } from '../model/diff.ts';
import { sizeText } from '../model/clock-text.ts';
import { branchText, leafText, MOST_HITS, treeRows } from '../model/tree-rows.ts';
import { copy } from '../session/copy-link.ts';
import * as s from '../session/session.ts';
import { Empty } from './empty.tsx';
import { VirtualRows } from './virtual-rows.tsx';
var ROW = 22;
/** Characters of a value in its row. */
var SHORT = 160;
/** Characters of a long value at once when it is opened. */
var CHUNK = 20000;
var MARKS = { added: '+', removed: '−', changed: '~', inside: '·' };
function partOf(detail, part) {
  return part === 'message' ? { message: detail.message, effects: detail.effects } : detail[part];
}
var NO_CHANGES = new Map();
/** Spec, status, context or message as a tree, with what the step changed in it. */
export function TreeView(_a) {
  var of = _a.of;
  var toggled = useSignal(new Map());
  var search = useSignal('');
  var onlyChanged = useSignal(false);
  var active = useSignal('');
  var opened = useSignal(null);
  var input = useComputed(function () {
    var shown = s.shown.value;
    if (shown === null) return null;
    var after = partOf(shown.detail, of);
    var before = shown.previous === null ? undefined : partOf(shown.previous, of);
    // A message has nothing to do with the message before it.
    var compared = of !== 'message' && shown.previous !== null;
    return { after: after, before: before, changes: compared ? diffTrees(before, after) : NO_CHANGES };
  });
  var open = useComputed(function () {
    return of === 'message'
      ? new Map(
          __spreadArray(
            [
              ['message', true],
              ['effects', true],
            ],
            toggled.value,
            true,
          ),
        )
      : toggled.value;
  });
  var rows = useComputed(function () {
    return input.value === null
      ? []
      : treeRows(
          __assign(__assign({}, input.value), {
            toggled: open.value,
            search: search.value,
            onlyChanged: onlyChanged.value,
          }),
        );
  });
  if (input.value === null) {
    return s.shownError.value === ''
      ? _jsx('div', {
          class: 'tree',
          'aria-busy': 'true',
          children: Array.from({ length: 8 }, function (_, i) {
            return _jsx('div', { class: 'skeleton thin' }, i);
          }),
        })
      : _jsx(Empty, { title: 'This step could not be read', children: s.shownError.value });
  }
  var all = rows.value;
  var at = all.findIndex(function (row) {
    return row.id === active.value;
  });
  var toggle = function (row) {
    if (row === undefined) return;
    active.value = row.id;
    if (row.branch) toggled.value = new Map(toggled.value).set(row.id, !row.open);
    else if (typeof row.value === 'string' && row.value.length > SHORT) {
      opened.value = { label: row.label, text: row.value, length: CHUNK };
    }
  };
  var changed = __spreadArray([], input.value.changes.values(), true).filter(function (change) {
    return change !== 'inside';
  }).length;
  var hits = all.filter(function (row) {
    return row.hit;
  }).length;
  return _jsxs('div', {
    class: 'tree',
    children: [
      _jsxs('div', {
        class: 'tree-head',
        children: [
          _jsx('input', {
            type: 'search',
            placeholder: 'Search in '.concat(of),
            'aria-label': 'Search in '.concat(of),
            spellcheck: false,
            value: search.value,
            onInput: function (event) {
              search.value = event.currentTarget.value;
            },
            onKeyDown: function (event) {
              if (event.key === 'Escape') search.value = '';
            },
          }),
          search.value !== '' &&
            _jsxs('span', {
              class: 'quiet',
              children: [hits >= MOST_HITS ? ''.concat(String(MOST_HITS), '+') : hits, ' found'],
            }),
          _jsx('span', { class: 'grow' }),
          of !== 'message' &&
            _jsxs('button', {
              type: 'button',
              class: 'chip',
              'aria-pressed': onlyChanged.value,
              onClick: function () {
                onlyChanged.value = !onlyChanged.value;
              },
              children: ['only changed ', _jsx('b', { children: changed })],
            }),
          _jsx('button', {
            type: 'button',
            class: 'small',
            onClick: function () {
              var _a, _b;
              return void copy(
                (_b = JSON.stringify((_a = input.value) === null || _a === void 0 ? void 0 : _a.after, null, 2)) !==
                  null && _b !== void 0
                  ? _b
                  : '',
                'Copied as JSON',
              );
            },
            children: 'Copy',
          }),
        ],
      }),
      opened.value !== null &&
        _jsx(LongText, {
          value: opened.value,
          onMore: function () {
            if (opened.value !== null)
              opened.value = __assign(__assign({}, opened.value), { length: opened.value.length + CHUNK });
          },
          onClose: function () {
            opened.value = null;
          },
        }),
      all.length === 0
        ? _jsx(Empty, {
            title:
              search.value === '' ? (onlyChanged.value ? 'Nothing changed in this step' : 'Nothing here') : 'Not found',
          })
        : _jsx(VirtualRows, {
            class: 'tree-rows',
            role: 'tree',
            label: of,
            count: all.length,
            rowHeight: ROW,
            active: at,
            rowId: function (i) {
              return 'node-'.concat(String(i));
            },
            row: function (i) {
              return _jsx(Row, { row: all[i], index: i, active: i === at, onToggle: toggle });
            },
            onMove: function (i) {
              var _a, _b;
              active.value =
                (_b = (_a = all[i]) === null || _a === void 0 ? void 0 : _a.id) !== null && _b !== void 0 ? _b : '';
            },
            onEnter: function (i) {
              toggle(all[i]);
            },
          }),
    ],
  });
}
function Row(_a) {
  var _b, _c;
  var row = _a.row,
    index = _a.index,
    active = _a.active,
    onToggle = _a.onToggle;
  if (row === undefined) return null;
  return _jsxs('div', {
    id: 'node-'.concat(String(index)),
    class: 'node mono',
    role: 'treeitem',
    'aria-level': row.depth + 1,
    'aria-expanded': row.branch ? row.open : undefined,
    'aria-selected': active,
    'data-change': (_b = row.change) !== null && _b !== void 0 ? _b : '',
    'data-hit': row.hit,
    style: { paddingLeft: ''.concat(String(4 + row.depth * 16), 'px') },
    onClick: function () {
      onToggle(row);
    },
    children: [
      _jsx('span', {
        class: 'node-mark',
        'aria-label': (_c = row.change) !== null && _c !== void 0 ? _c : '',
        children: row.change === undefined ? '' : MARKS[row.change],
      }),
      _jsx('span', { class: 'node-twist', 'aria-hidden': 'true', children: row.branch ? (row.open ? '▾' : '▸') : '' }),
      _jsx('span', { class: 'node-key', children: row.label.replace(/^-(?=\d)/, '') }),
      row.hint !== '' && !row.open && _jsxs('span', { class: 'quiet', children: [' ', row.hint] }),
      _jsx(Value, { row: row }),
    ],
  });
}
function Value(_a) {
  var row = _a.row;
  if (row.branch) return row.open ? null : _jsxs('span', { class: 'quiet', children: [' ', branchText(row.value)] });
  var text = typeof row.value === 'object' && row.value !== null ? branchText(row.value) : leafText(row.value);
  var was = row.change === 'changed' ? shortText(row.was) : '';
  return _jsxs(_Fragment, {
    children: [
      was !== '' && _jsx('del', { children: was }),
      _jsx('span', {
        class: 'value-'.concat(row.value === null ? 'null' : typeof row.value),
        children: text.length > SHORT ? ''.concat(text.slice(0, SHORT), '\u2026') : text,
      }),
      text.length > SHORT && _jsxs('span', { class: 'long', children: [' ', sizeText(text.length), ', open'] }),
    ],
  });
}
function shortText(value) {
  var text = typeof value === 'object' && value !== null ? branchText(value) : leafText(value);
  return text.length > 60 ? ''.concat(text.slice(0, 60), '\u2026') : text;
}
/** A value that is too long for its row; shown bit by bit, since a line of a megabyte stops any browser. */
function LongText(_a) {
  var _b = _a.value,
    label = _b.label,
    text = _b.text,
    length = _b.length,
    onMore = _a.onMore,
    onClose = _a.onClose;
  return _jsxs('div', {
    class: 'long-text',
    role: 'region',
    'aria-label': label,
    children: [
      _jsxs('div', {
        class: 'tree-head',
        children: [
          _jsx('b', { class: 'mono', children: label }),
          ' ',
          _jsx('span', { class: 'quiet', children: sizeText(text.length) }),
          _jsx('span', { class: 'grow' }),
          _jsx('button', {
            type: 'button',
            class: 'small',
            onClick: function () {
              return void copy(text, 'Value copied');
            },
            children: 'Copy',
          }),
          _jsx('button', { type: 'button', class: 'small', onClick: onClose, children: 'Close' }),
        ],
      }),
      _jsx('pre', { tabIndex: 0, children: text.slice(0, length) }),
      length < text.length &&
        _jsxs('button', {
          type: 'button',
          class: 'small',
          onClick: onMore,
          children: [sizeText(text.length - length), ' more'],
        }),
    ],
  });
}
