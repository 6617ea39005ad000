import { jsx as _jsx } from 'preact/jsx-runtime';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { rowWindow, scrollFor } from '../model/row-window.ts';
/** A list of equal rows of which only those in view exist; one tab stop, moved through with the arrow keys. */
export function VirtualRows(props) {
  var _a;
  var count = props.count,
    rowHeight = props.rowHeight,
    active = props.active;
  var box = useRef(null);
  var _b = useState({ start: 0, end: Math.min(count, 40) }),
    seen = _b[0],
    setSeen = _b[1];
  var look = function () {
    var _a;
    var el = box.current;
    if (el === null) return;
    var next = rowWindow(el.scrollTop, el.clientHeight, rowHeight, count);
    if (next.start === seen.start && next.end === seen.end) return;
    setSeen(next);
    (_a = props.onWindow) === null || _a === void 0 ? void 0 : _a.call(props, next);
  };
  useLayoutEffect(look, [count, rowHeight]);
  useEffect(function () {
    var el = box.current;
    if (el === null) return;
    var observer = new ResizeObserver(function () {
      el.dispatchEvent(new Event('scroll'));
    });
    observer.observe(el);
    return function () {
      observer.disconnect();
    };
  }, []);
  useLayoutEffect(
    function () {
      var el = box.current;
      if (el === null || active < 0) return;
      var to = scrollFor(el.scrollTop, el.clientHeight, active * rowHeight, (active + 1) * rowHeight);
      if (to !== el.scrollTop) {
        el.scrollTop = to;
        look();
      }
    },
    [active, rowHeight],
  );
  var onKeyDown = function (event) {
    var _a, _b;
    var page = Math.max(
      1,
      Math.floor(
        ((_b = (_a = box.current) === null || _a === void 0 ? void 0 : _a.clientHeight) !== null && _b !== void 0
          ? _b
          : 0) / rowHeight,
      ) - 1,
    );
    var moves = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: count - 1,
    };
    var to = moves[event.key];
    if (to !== undefined && count > 0) {
      event.preventDefault();
      props.onMove(Math.max(0, Math.min(count - 1, to)));
    } else if (event.key === 'Enter' && props.onEnter !== undefined && active >= 0) {
      event.preventDefault();
      props.onEnter(active);
    }
  };
  var rows = [];
  for (var i = seen.start; i < Math.min(seen.end, count); i++) {
    rows.push(
      _jsx(
        'div',
        {
          class: 'vrow',
          style: {
            transform: 'translateY('.concat(String(i * rowHeight), 'px)'),
            height: ''.concat(String(rowHeight), 'px'),
          },
          children: props.row(i),
        },
        i,
      ),
    );
  }
  var inView = active >= seen.start && active < seen.end;
  return _jsx('div', {
    ref: box,
    id: props.id,
    class: 'vlist '.concat((_a = props.class) !== null && _a !== void 0 ? _a : ''),
    role: props.role,
    'aria-label': props.label,
    'aria-activedescendant': inView ? props.rowId(active) : undefined,
    tabIndex: 0,
    onScroll: look,
    onKeyDown: onKeyDown,
    children: _jsx('div', {
      class: 'vspace',
      role: 'presentation',
      style: { height: ''.concat(String(count * rowHeight), 'px') },
      children: rows,
    }),
  });
}
