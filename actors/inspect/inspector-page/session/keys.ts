import { VIEWS } from '../model/moment.ts';
import { copyLink } from './copy-link.ts';
import { goBySpans, goToMoment, goToSpan, openNode } from './node-travel.ts';
import { changeSpeed, togglePlay } from './play.ts';
import * as s from './session.ts';
import { toggleTheme } from './theme.ts';
import { goBy, goLive, goTo, goToChange, setView } from './travel.ts';

/** All keys with what they do, as the help shows them. */
export const KEYS: readonly { keys: string[]; does: string }[] = [
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

const focusOn = (id: string) => {
  document.getElementById(id)?.focus();
};

const actions: Record<string, () => void> = {
  ArrowLeft: () => {
    goBy(-1);
  },
  ArrowRight: () => {
    goBy(1);
  },
  '[': () => {
    goToChange(-1);
  },
  ']': () => {
    goToChange(1);
  },
  Home: () => {
    s.playing.value = false;
    goTo(s.first.value);
  },
  End: () => {
    s.playing.value = false;
    goTo(s.total.value - 1);
  },
  ' ': togglePlay,
  '+': () => {
    changeSpeed(1);
  },
  '=': () => {
    changeSpeed(1);
  },
  '-': () => {
    changeSpeed(-1);
  },
  l: goLive,
  w: () => {
    s.wide.value = !s.wide.value;
  },
  n: openNode,
  '/': () => {
    focusOn('filter');
  },
  p: () => {
    focusOn('pods');
  },
  c: () => void copyLink(),
  t: toggleTheme,
  '?': () => {
    s.helpOpen.value = true;
  },
};

/** What keys of steps mean while the node is shown. */
const nodeActions: Record<string, () => void> = {
  ArrowLeft: () => {
    goBySpans(-1);
  },
  ArrowRight: () => {
    goBySpans(1);
  },
  Home: () => {
    goToSpan(0);
  },
  End: () => {
    goToMoment(null);
  },
  l: () => {
    goToMoment(null);
  },
};

/** Keys that work anywhere on the page, except where they mean something of their own. */
export function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || s.helpOpen.value) return;
  const target = event.target instanceof HTMLElement ? event.target : null;
  const range = target instanceof HTMLInputElement && target.type === 'range';
  if (!range && target?.matches('input, textarea, select')) return;
  // A focused button takes Space and Enter itself; so does the slider with its arrows.
  if (event.key === ' ' && target?.matches('button, a, summary')) return;
  if (range && /^(Arrow|Home|End|Page)/.test(event.key)) return;
  const view = VIEWS[Number(event.key) - 1];
  const action =
    view !== undefined && s.uid.value !== ''
      ? () => {
          setView(view);
        }
      : ((s.uid.value === '' ? nodeActions[event.key] : undefined) ?? actions[event.key]);
  if (action === undefined) return;
  event.preventDefault();
  action();
}
