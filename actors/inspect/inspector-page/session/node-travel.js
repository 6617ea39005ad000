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
var __rest =
  (this && this.__rest) ||
  function (s, e) {
    var t = {};
    for (var p in s) if (Object.prototype.hasOwnProperty.call(s, p) && e.indexOf(p) < 0) t[p] = s[p];
    if (s != null && typeof Object.getOwnPropertySymbols === 'function')
      for (var i = 0, p = Object.getOwnPropertySymbols(s); i < p.length; i++) {
        if (e.indexOf(p[i]) < 0 && Object.prototype.propertyIsEnumerable.call(s, p[i])) t[p[i]] = s[p[i]];
      }
    return t;
  };
import { batch } from '@preact/signals';
import { formatMoment } from '../model/moment.ts';
import { spanAt, spanEnd } from '../model/span-place.ts';
import { loadOverview, overview, overviewAt } from './node-overview.ts';
import * as s from './session.ts';
import { startPod, writeAddress } from './travel.ts';
/** Shows the node with all its pods, at its newest moment. */
export function openNode() {
  if (s.uid.value === '') {
    goToMoment(null);
    return;
  }
  var _a = s.moment.value,
    _at = _a.at,
    rest = __rest(_a, ['at']);
  var next = __assign(__assign({}, rest), { uid: '', step: null, chart: 'pod' });
  history.pushState(null, '', formatMoment(next));
  batch(function () {
    s.moment.value = next;
    startPod();
  });
  loadOverview();
}
/** Goes to a moment of the node; null follows the newest. */
export function goToMoment(at) {
  if (at === overviewAt.value) return;
  var _a = s.moment.value,
    _at = _a.at,
    rest = __rest(_a, ['at']);
  s.moment.value = at === null ? rest : __assign(__assign({}, rest), { at: at });
  writeAddress();
  loadOverview();
}
/** Goes to the end of a span of the node's history; the last one is the newest moment. */
export function goToSpan(number) {
  var told = overview.value;
  if (told === null) return;
  var history = told.history,
    to = told.to;
  var span = Math.max(0, Math.min(number, history.length - 1));
  goToMoment(span === history.length - 1 ? null : Math.min(spanEnd(history, span), to));
}
/** So many spans back or on. */
export function goBySpans(by) {
  var _a;
  var history = (_a = overview.value) === null || _a === void 0 ? void 0 : _a.history;
  if (history !== undefined) goToSpan(spanAt(history, overviewAt.value) + by);
}
