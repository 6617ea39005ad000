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
import { hasFailed } from './lanes.ts';
/** Height of one arrow of the sequence diagram, px. */
export var ARROW_HEIGHT = 20;
/** Space around the arrows of one step, px. */
export var STEP_PADDING = 8;
/** Arrows of a step from top to bottom: what came in, then what the pod asks for. */
export function arrowsOf(step, at) {
  var _a, _b;
  var arrows = [
    __assign(
      {
        from: step.from,
        to: 'pod',
        text: step.summary === '' ? step.message : step.summary,
        kind: step.answers === undefined ? 'message' : 'answer',
        failed: hasFailed(step),
        key: (_b = (_a = step.answers) === null || _a === void 0 ? void 0 : _a.key) !== null && _b !== void 0 ? _b : '',
      },
      step.answers === undefined ? {} : { ms: step.answers.ms, other: step.answers.index },
    ),
  ];
  for (var _i = 0, _c = step.effects; _i < _c.length; _i++) {
    var effect = _c[_i];
    arrows.push(arrowOf(step, effect, at));
  }
  return arrows;
}
function arrowOf(step, effect, at) {
  var _a, _b, _c;
  var answer = effect.answeredBy === undefined ? undefined : at(effect.answeredBy);
  return __assign(
    __assign(
      {
        from: 'pod',
        to: effect.to,
        text: ''
          .concat(effect.type.slice(effect.type.indexOf('.') + 1), ' ')
          .concat(effect.summary)
          .trim(),
        kind: 'effect',
        failed:
          ((_a = answer === null || answer === void 0 ? void 0 : answer.answers) === null || _a === void 0
            ? void 0
            : _a.failed) === true,
        key: effect.key,
      },
      effect.answeredBy === undefined ? {} : { other: effect.answeredBy },
    ),
    answer === undefined
      ? {}
      : {
          ms:
            (_c = (_b = answer.answers) === null || _b === void 0 ? void 0 : _b.ms) !== null && _c !== void 0
              ? _c
              : answer.at - step.at,
        },
  );
}
/** Height of a step in the sequence diagram, px. */
export function heightOf(step) {
  return STEP_PADDING + ARROW_HEIGHT * (1 + step.effects.length);
}
/** Steps to look back for effects that are still under way. */
var LOOK_BACK = 300;
/** What each lane works on while steps `start` to before `end` are in view. */
export function activations(start, end, at) {
  var found = [];
  var _loop_1 = function (i) {
    var step = at(i);
    step === null || step === void 0
      ? void 0
      : step.effects.forEach(function (effect, n) {
          var _a, _b, _c;
          if (effect.to === 'pod' || effect.key === '') return;
          var to = (_a = effect.answeredBy) !== null && _a !== void 0 ? _a : Infinity;
          if (to < start) return;
          var failed =
            effect.answeredBy !== undefined &&
            ((_c = (_b = at(effect.answeredBy)) === null || _b === void 0 ? void 0 : _b.answers) === null ||
            _c === void 0
              ? void 0
              : _c.failed) === true;
          found.push({ lane: effect.to, from: i, arrow: n + 1, to: to, failed: failed });
        });
  };
  for (var i = Math.max(0, start - LOOK_BACK); i < end; i++) {
    _loop_1(i);
  }
  return found;
}
