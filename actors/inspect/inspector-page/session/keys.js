import { VIEWS } from '../model/moment.ts';
import { copyLink } from './copy-link.ts';
import { goBySpans, goToMoment, goToSpan, openNode } from './node-travel.ts';
import { changeSpeed, togglePlay } from './play.ts';
import * as s from './session.ts';
import { toggleTheme } from './theme.ts';
import { goBy, goLive, goTo, goToChange, setView } from './travel.ts';
/** All keys with what they do, as the help shows them. */
export var KEYS = [
  { keys: ['←', '→'], does: 'one step back, one step on; of the node a span of time' },
  { keys: ['[', ']'], does: 'previous, next change of the state' },
  { keys: ['Home', 'End'], does: 'first step, last step' },
  { keys: ['Space'], does: 'play, pause' },
  { keys: ['+', '−'], does: 'play faster, slower (1× to 1000×)' },
  { keys: ['l'], does: 'live: follow the newest step' },
  { keys: ['1', '…', '7'], does: 'time line, sequence, spec, status, context, message, explain' },
  { keys: ['w'], does: 'wide panel, and back' },
  { keys: ['/'], does: 'filter the pods' },
  { keys: ['p'], does: 'to the list of pods' },
  { keys: ['n'], does: 'the node: all pods over time, slow calls, what waits' },
  { keys: ['↑', '↓', 'Enter'], does: 'in a list or a tree: move, open' },
  { keys: ['c'], does: 'copy the link to this moment' },
  { keys: ['t'], does: 'dark, light' },
  { keys: ['?'], does: 'this help' },
];
var focusOn = function (id) {
  var _a;
  (_a = document.getElementById(id)) === null || _a === void 0 ? void 0 : _a.focus();
};
var actions = {
  ArrowLeft: function () {
    goBy(-1);
  },
  ArrowRight: function () {
    goBy(1);
  },
  '[': function () {
    goToChange(-1);
  },
  ']': function () {
    goToChange(1);
  },
  Home: function () {
    s.playing.value = false;
    goTo(s.first.value);
  },
  End: function () {
    s.playing.value = false;
    goTo(s.total.value - 1);
  },
  ' ': togglePlay,
  '+': function () {
    changeSpeed(1);
  },
  '=': function () {
    changeSpeed(1);
  },
  '-': function () {
    changeSpeed(-1);
  },
  l: goLive,
  w: function () {
    s.wide.value = !s.wide.value;
  },
  n: openNode,
  '/': function () {
    focusOn('filter');
  },
  p: function () {
    focusOn('pods');
  },
  c: function () {
    return void copyLink();
  },
  t: toggleTheme,
  '?': function () {
    s.helpOpen.value = true;
  },
};
/** What keys of steps mean while the node is shown. */
var nodeActions = {
  ArrowLeft: function () {
    goBySpans(-1);
  },
  ArrowRight: function () {
    goBySpans(1);
  },
  Home: function () {
    goToSpan(0);
  },
  End: function () {
    goToMoment(null);
  },
  l: function () {
    goToMoment(null);
  },
};
/** Keys that work anywhere on the page, except where they mean something of their own. */
export function onKey(event) {
  var _a;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || s.helpOpen.value) return;
  var target = event.target instanceof HTMLElement ? event.target : null;
  var range = target instanceof HTMLInputElement && target.type === 'range';
  if (!range && (target === null || target === void 0 ? void 0 : target.matches('input, textarea, select'))) return;
  // A focused button takes Space and Enter itself; so does the slider with its arrows.
  if (event.key === ' ' && (target === null || target === void 0 ? void 0 : target.matches('button, a, summary')))
    return;
  if (range && /^(Arrow|Home|End|Page)/.test(event.key)) return;
  var view = VIEWS[Number(event.key) - 1];
  var action =
    view !== undefined && s.uid.value !== ''
      ? function () {
          setView(view);
        }
      : (_a = s.uid.value === '' ? nodeActions[event.key] : undefined) !== null && _a !== void 0
        ? _a
        : actions[event.key];
  if (action === undefined) return;
  event.preventDefault();
  action();
}
