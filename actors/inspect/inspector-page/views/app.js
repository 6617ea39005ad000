import { jsx as _jsx, jsxs as _jsxs, Fragment as _Fragment } from 'preact/jsx-runtime';
import * as s from '../session/session.ts';
import { Help } from './help.tsx';
import { PodList } from './pod-list.tsx';
import { PodPage } from './pod-page.tsx';
import { TopBar } from './top-bar.tsx';
/** The whole page. */
export function App() {
  return _jsxs(_Fragment, {
    children: [
      _jsx('button', {
        type: 'button',
        class: 'skip',
        onClick: function () {
          var _a;
          return (_a = document.getElementById('main')) === null || _a === void 0 ? void 0 : _a.focus();
        },
        children: 'Skip to what is shown',
      }),
      _jsx(TopBar, {}),
      _jsxs('div', {
        class: 'columns',
        children: [_jsx(PodList, {}), _jsx('main', { id: 'main', tabIndex: -1, children: _jsx(PodPage, {}) })],
      }),
      _jsx(Help, {}),
      _jsx('div', {
        class: 'notice',
        role: 'status',
        'aria-live': 'polite',
        'data-shown': s.notice.value !== '',
        children: s.notice.value,
      }),
    ],
  });
}
