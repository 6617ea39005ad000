import { jsx as _jsx, jsxs as _jsxs } from 'preact/jsx-runtime';
import { useEffect, useRef } from 'preact/hooks';
import { KEYS } from '../session/keys.ts';
import * as s from '../session/session.ts';
/** The keys, as a dialog. */
export function Help() {
  var dialog = useRef(null);
  var open = s.helpOpen.value;
  useEffect(
    function () {
      var _a, _b;
      if (open) (_a = dialog.current) === null || _a === void 0 ? void 0 : _a.showModal();
      else (_b = dialog.current) === null || _b === void 0 ? void 0 : _b.close();
    },
    [open],
  );
  var close = function () {
    s.helpOpen.value = false;
  };
  return _jsxs('dialog', {
    ref: dialog,
    class: 'help',
    'aria-label': 'Keys',
    onClose: close,
    onClick: function (event) {
      if (event.target === dialog.current) close();
    },
    children: [
      _jsx('h2', { children: 'Keys' }),
      _jsx('dl', {
        children: KEYS.map(function (_a) {
          var keys = _a.keys,
            does = _a.does;
          return _jsxs(
            'div',
            {
              children: [
                _jsx('dt', {
                  children: keys.map(function (key) {
                    return _jsx('kbd', { children: key }, key);
                  }),
                }),
                _jsx('dd', { children: does }),
              ],
            },
            does,
          );
        }),
      }),
      _jsx('p', {
        class: 'quiet',
        children: 'Moments have addresses: the one in the address bar opens this pod, step and view again.',
      }),
      _jsx('button', { type: 'button', onClick: close, children: 'Close' }),
    ],
  });
}
