import { jsx as _jsx, jsxs as _jsxs, Fragment as _Fragment } from 'preact/jsx-runtime';
import { countText, spanText } from '../model/clock-text.ts';
import { connect } from '../session/live.ts';
import * as s from '../session/session.ts';
import { toggleTheme } from '../session/theme.ts';
/** Which node this is, whether the page hears from it, theme and help. */
export function TopBar() {
  var about = s.about.value;
  return _jsxs('header', {
    class: 'top',
    children: [
      _jsxs('h1', {
        class: 'brand',
        children: [
          _jsxs('svg', {
            viewBox: '0 0 16 16',
            width: '16',
            height: '16',
            'aria-hidden': 'true',
            children: [
              _jsx('rect', { x: '1.5', y: '1.5', width: '13', height: '13', rx: '4', class: 'brand-frame' }),
              _jsx('circle', { cx: '8', cy: '8', r: '2.5', class: 'brand-dot' }),
            ],
          }),
          'actorlet ',
          _jsx('span', { class: 'quiet', children: 'inspector' }),
        ],
      }),
      about !== null &&
        _jsxs('span', {
          class: 'agent mono',
          title: 'version '.concat(about.version),
          children: [about.nodeName, _jsxs('span', { class: 'quiet', children: [' ', about.version] })],
        }),
      _jsx('span', {
        class: 'quiet top-count',
        children: s.podsLoaded.value ? ''.concat(countText(s.pods.value.size), ' pods') : '',
      }),
      about !== null &&
        about.damages.length > 0 &&
        _jsxs('span', {
          class: 'lamp text-fail',
          title: about.damages
            .map(function (d) {
              return ''.concat(d.file, ':').concat(String(d.line), ': ').concat(d.problem);
            })
            .join('\n'),
          children: [
            _jsx('i', { class: 'dot tone-fail', 'aria-hidden': 'true' }),
            about.damages.length,
            ' damaged ',
            about.damages.length === 1 ? 'file' : 'files',
          ],
        }),
      _jsx('span', { class: 'grow' }),
      _jsx(Link, {}),
      _jsx('button', {
        type: 'button',
        class: 'icon',
        onClick: toggleTheme,
        'aria-label': 'Dark or light',
        title: 'Dark or light (t)',
        children: _jsxs('svg', {
          viewBox: '0 0 16 16',
          width: '16',
          height: '16',
          'aria-hidden': 'true',
          children: [
            _jsx('circle', { cx: '8', cy: '8', r: '5.5', class: 'line-shape' }),
            _jsx('path', { d: 'M8 2.5a5.5 5.5 0 0 1 0 11z', class: 'fill-shape' }),
          ],
        }),
      }),
      _jsx('button', {
        type: 'button',
        class: 'icon mono',
        onClick: function () {
          s.helpOpen.value = true;
        },
        'aria-label': 'Keys',
        title: 'Keys (?)',
        children: '?',
      }),
    ],
  });
}
function Link() {
  var state = s.connection.value;
  if (state === 'live') return _jsx(Lamp, { tone: 'ok', text: 'live', title: 'The page hears of each change' });
  if (state === 'files')
    return _jsx(Lamp, { tone: 'end', text: 'recorded', title: 'Read from journal files; nothing more comes' });
  if (state === 'refused') return _jsx(Lamp, { tone: 'fail', text: 'no access', title: s.trouble.value });
  if (state === 'loading') return _jsx(Lamp, { tone: 'wait', text: 'connecting', title: '' });
  var wait = s.retryAt.value - s.now.value;
  return _jsxs(_Fragment, {
    children: [
      _jsx(Lamp, {
        tone: 'fail',
        text: wait > 0 ? 'disconnected \u00B7 next try in '.concat(spanText(wait)) : 'connecting again',
        title: s.trouble.value,
      }),
      _jsx('button', {
        type: 'button',
        class: 'small',
        onClick: function () {
          return void connect();
        },
        children: 'Try now',
      }),
    ],
  });
}
function Lamp(_a) {
  var tone = _a.tone,
    text = _a.text,
    title = _a.title;
  return _jsxs('span', {
    class: 'lamp',
    role: 'status',
    title: title,
    children: [_jsx('i', { class: 'dot tone-'.concat(tone), 'aria-hidden': 'true' }), text],
  });
}
