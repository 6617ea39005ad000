import { computed, effect, signal } from '@preact/signals';
import { parseMoment } from '../model/moment.ts';
import { lastWay, waysTaken } from '../model/journey.ts';
import { countStates, listPods } from '../model/pod-list.ts';
import { StepStore } from '../model/step-store.ts';
export var about = signal(null);
export var pods = signal(new Map());
/** The node itself; null when the journals have no log of it. */
export var node = signal(null);
/** The list has been loaded at least once. */
export var podsLoaded = signal(false);
export var connection = signal('loading');
/** When the next try to connect is due, ms since the epoch; 0: one is under way or none is needed. */
export var retryAt = signal(0);
/** What the last failed request said; '' when all is well. */
export var trouble = signal('');
/** The clock of ages: ticks while live, stands at the journals' end for files. */
export var now = signal(Date.now());
export var filterText = signal('');
export var filterStates = signal([]);
export var sort = signal('attention');
export var shownPods = computed(function () {
  return listPods(pods.value.values(), { text: filterText.value, states: filterStates.value }, sort.value);
});
export var stateCounts = computed(function () {
  return countStates(pods.value.values());
});
export var moment = signal(parseMoment(location.hash));
export var uid = computed(function () {
  return moment.value.uid;
});
export var isNode = computed(function () {
  var _a;
  return uid.value !== '' && uid.value === ((_a = node.value) === null || _a === void 0 ? void 0 : _a.uid);
});
export var view = computed(function () {
  return moment.value.view;
});
export var following = computed(function () {
  return moment.value.step === null;
});
/** What is chosen: a pod, or the node. */
export var pod = computed(function () {
  var _a, _b;
  return (_a = pods.value.get(uid.value)) !== null && _a !== void 0
    ? _a
    : isNode.value
      ? (_b = node.value) !== null && _b !== void 0
        ? _b
        : undefined
      : undefined;
});
/** Steps of the chosen pod; `stepsVersion` rises with each change of it. */
export var steps = { store: new StepStore() };
export var stepsVersion = signal(0);
export var total = signal(0);
/** Oldest step that is still in the journals. */
export var first = signal(0);
/** Steps of the chosen pod could not be loaded. */
export var stepsError = signal('');
/** Index of the step that is shown; -1 while the pod has none. */
export var index = computed(function () {
  var last = total.value - 1;
  var step = moment.value.step;
  return step === null ? last : Math.min(Math.max(step, first.value), last);
});
/** The line of the step that is shown, when it is loaded. */
export var line = computed(function () {
  void stepsVersion.value;
  return steps.store.at(index.value);
});
export var shown = signal(null);
export var shownError = signal('');
/** What `explain` says at the shown moment; null while unknown or not offered. */
export var explanation = signal(null);
export var playing = signal(false);
export var speed = signal(1);
export var helpOpen = signal(false);
/** The panel beside the chart takes the whole width. */
export var wide = signal(false);
/** Told to screen readers and shown for a moment: `Link copied`. */
export var notice = signal('');
/** Ways that the pod has taken until now, as far as its steps are loaded. */
export var ways = computed(function () {
  void stepsVersion.value;
  return waysTaken(steps.store.loaded(), index.value);
});
export var latestWay = computed(function () {
  return lastWay(ways.value);
});
/** The pod's state at the shown moment. */
export var stateNow = computed(function () {
  var _a, _b, _c, _d;
  if (following.value && line.value === undefined)
    return (_b = (_a = pod.value) === null || _a === void 0 ? void 0 : _a.state) !== null && _b !== void 0 ? _b : '';
  var known = (_c = line.value) === null || _c === void 0 ? void 0 : _c.after;
  if (known !== undefined) return known;
  return ((_d = shown.value) === null || _d === void 0 ? void 0 : _d.index) === index.value
    ? shown.value.detail.machines.pod
    : '';
});
effect(function () {
  var _a;
  var name = (_a = pod.value) === null || _a === void 0 ? void 0 : _a.name;
  document.title = name === undefined ? 'actorlet inspector' : ''.concat(name, ' \u00B7 actorlet inspector');
});
