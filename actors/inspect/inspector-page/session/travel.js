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
import { formatMoment, parseMoment } from '../model/moment.ts';
import { StepStore } from '../model/step-store.ts';
import { loadDetail } from './detail.ts';
import { loadAround } from './load-steps.ts';
import { loadOverview, overview, overviewAt } from './node-overview.ts';
import * as s from './session.ts';
var writing = 0;
/** Writes the address a moment later: browsers allow few history calls a second. */
export function writeAddress() {
  clearTimeout(writing);
  writing = window.setTimeout(function () {
    var hash = formatMoment(s.moment.value);
    if (hash !== location.hash) history.replaceState(null, '', hash);
  }, 150);
}
/** Opens a pod at its newest step, or at `step`. */
export function openPod(uid, step) {
  if (step === void 0) {
    step = null;
  }
  if (uid === s.uid.value) {
    goTo(step);
    return;
  }
  clearTimeout(writing);
  var _a = s.moment.value,
    _at = _a.at,
    rest = __rest(_a, ['at']);
  var next = __assign(__assign({}, rest), { uid: uid, step: step, chart: 'pod' });
  // A pod is a place to come back to: it gets an entry in the history, a step does not.
  history.pushState(null, '', formatMoment(next));
  batch(function () {
    s.moment.value = next;
    startPod();
  });
}
/** Forgets the steps of the pod that was shown and loads those of the chosen one. */
export function startPod() {
  var _a, _b;
  s.steps.store = new StepStore();
  s.total.value =
    (_b = (_a = s.pod.value) === null || _a === void 0 ? void 0 : _a.steps) !== null && _b !== void 0 ? _b : 0;
  s.steps.store.total = s.total.value;
  s.first.value = 0;
  s.stepsVersion.value++;
  s.stepsError.value = '';
  s.shown.value = null;
  s.shownError.value = '';
  s.explanation.value = null;
  s.playing.value = false;
  if (s.uid.value === '') return;
  loadAround();
  loadDetail();
}
/** Goes to a step; null follows the newest one. */
export function goTo(step) {
  var last = s.total.value - 1;
  var to = step === null ? null : Math.max(s.first.value, Math.min(step, last));
  if (to === s.moment.value.step) return;
  s.moment.value = __assign(__assign({}, s.moment.value), { step: to });
  writeAddress();
  loadAround();
  loadDetail();
}
/** One step back or on; stays at either end. */
export function goBy(by) {
  s.playing.value = false;
  goTo(s.index.value + by);
}
/** To the nearest step before or after this one at which the pod's state changed, among those that are loaded. */
export function goToChange(by) {
  s.playing.value = false;
  for (var i = s.index.value + by; i >= 0 && i < s.total.value; i += by) {
    var step = s.steps.store.at(i);
    if (step === undefined) return;
    if (step.before !== step.after) {
      goTo(i);
      return;
    }
  }
}
/** Follows the newest step. */
export function goLive() {
  s.playing.value = false;
  goTo(null);
}
export function setView(view) {
  s.moment.value = __assign(__assign({}, s.moment.value), { view: view });
  writeAddress();
  loadDetail();
}
/** Draws another machine of the pod: `pod`, `container/NAME`, `probe/CONTAINER/KIND`. */
export function setChart(chart) {
  s.moment.value = __assign(__assign({}, s.moment.value), { chart: chart });
  writeAddress();
}
/** Address of the shown moment, with its step even while the newest one is followed. */
export function linkHere() {
  var _a, _b;
  var at =
    (_a = overviewAt.value) !== null && _a !== void 0
      ? _a
      : (_b = overview.value) === null || _b === void 0
        ? void 0
        : _b.at;
  if (s.uid.value === '' && at !== undefined)
    return new URL(formatMoment(__assign(__assign({}, s.moment.value), { at: at })), location.href).href;
  var step = s.index.value < 0 ? null : s.index.value;
  return new URL(formatMoment(__assign(__assign({}, s.moment.value), { step: step })), location.href).href;
}
/** Follows the address: a link that was opened, or the browser's back. */
export function followAddress() {
  var next = parseMoment(location.hash);
  var other = next.uid !== s.uid.value;
  batch(function () {
    s.moment.value = next;
    if (other) startPod();
  });
  if (s.uid.value === '') loadOverview();
  if (other) return;
  loadAround();
  loadDetail();
}
