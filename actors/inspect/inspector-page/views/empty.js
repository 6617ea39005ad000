import { jsx as _jsx, jsxs as _jsxs } from 'preact/jsx-runtime';
/** Says why there is nothing, and what to do. */
export function Empty(_a) {
  var title = _a.title,
    children = _a.children;
  return _jsxs('div', {
    class: 'empty',
    children: [
      _jsx('p', { class: 'empty-title', children: title }),
      _jsx('div', { class: 'quiet', children: children }),
    ],
  });
}
