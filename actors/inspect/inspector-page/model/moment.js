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
/** Views beside the statechart, in the order of their tabs. */
export var VIEWS = ['timeline', 'sequence', 'spec', 'status', 'context', 'message', 'explain'];
var NOWHERE = { uid: '', step: null, view: 'timeline', chart: 'pod' };
/** Reads a location hash such as `#pod=UID&step=12&view=sequence` or `#node&at=1772355781000`; what is missing or senseless gets its default. */
export function parseMoment(hash) {
  var _a, _b, _c, _d, _e, _f;
  var fields = new URLSearchParams(hash.replace(/^#/, ''));
  var step = (_a = fields.get('step')) !== null && _a !== void 0 ? _a : '';
  var view = (_b = fields.get('view')) !== null && _b !== void 0 ? _b : '';
  var uid = (_c = fields.get('pod')) !== null && _c !== void 0 ? _c : '';
  var at = (_d = fields.get('at')) !== null && _d !== void 0 ? _d : '';
  return __assign(__assign({ uid: uid }, uid === '' && /^\d{1,15}$/.test(at) && { at: Number(at) }), {
    step: /^\d{1,9}$/.test(step) ? Number(step) : null,
    view:
      (_e = VIEWS.find(function (v) {
        return v === view;
      })) !== null && _e !== void 0
        ? _e
        : NOWHERE.view,
    chart: (_f = fields.get('chart')) !== null && _f !== void 0 ? _f : NOWHERE.chart,
  });
}
/** The hash that {@link parseMoment} reads; `#node` when no pod is chosen. */
export function formatMoment(moment) {
  if (moment.uid === '') return moment.at === undefined ? '#node' : '#node&at='.concat(String(moment.at));
  var fields = new URLSearchParams({ pod: moment.uid });
  if (moment.step !== null) fields.set('step', String(moment.step));
  if (moment.view !== NOWHERE.view) fields.set('view', moment.view);
  if (moment.chart !== NOWHERE.chart) fields.set('chart', moment.chart);
  return '#'.concat(fields.toString());
}
