var __awaiter =
  (this && this.__awaiter) ||
  function (thisArg, _arguments, P, generator) {
    function adopt(value) {
      return value instanceof P
        ? value
        : new P(function (resolve) {
            resolve(value);
          });
    }
    return new (P || (P = Promise))(function (resolve, reject) {
      function fulfilled(value) {
        try {
          step(generator.next(value));
        } catch (e) {
          reject(e);
        }
      }
      function rejected(value) {
        try {
          step(generator['throw'](value));
        } catch (e) {
          reject(e);
        }
      }
      function step(result) {
        result.done ? resolve(result.value) : adopt(result.value).then(fulfilled, rejected);
      }
      step((generator = generator.apply(thisArg, _arguments || [])).next());
    });
  };
var __generator =
  (this && this.__generator) ||
  function (thisArg, body) {
    var _ = {
        label: 0,
        sent: function () {
          if (t[0] & 1) throw t[1];
          return t[1];
        },
        trys: [],
        ops: [],
      },
      f,
      y,
      t,
      g = Object.create((typeof Iterator === 'function' ? Iterator : Object).prototype);
    return (
      (g.next = verb(0)),
      (g['throw'] = verb(1)),
      (g['return'] = verb(2)),
      typeof Symbol === 'function' &&
        (g[Symbol.iterator] = function () {
          return this;
        }),
      g
    );
    function verb(n) {
      return function (v) {
        return step([n, v]);
      };
    }
    function step(op) {
      if (f) throw new TypeError('Generator is already executing.');
      while ((g && ((g = 0), op[0] && (_ = 0)), _))
        try {
          if (
            ((f = 1),
            y &&
              (t = op[0] & 2 ? y['return'] : op[0] ? y['throw'] || ((t = y['return']) && t.call(y), 0) : y.next) &&
              !(t = t.call(y, op[1])).done)
          )
            return t;
          if (((y = 0), t)) op = [op[0] & 2, t.value];
          switch (op[0]) {
            case 0:
            case 1:
              t = op;
              break;
            case 4:
              _.label++;
              return { value: op[1], done: false };
            case 5:
              _.label++;
              y = op[1];
              op = [0];
              continue;
            case 7:
              op = _.ops.pop();
              _.trys.pop();
              continue;
            default:
              if (!((t = _.trys), (t = t.length > 0 && t[t.length - 1])) && (op[0] === 6 || op[0] === 2)) {
                _ = 0;
                continue;
              }
              if (op[0] === 3 && (!t || (op[1] > t[0] && op[1] < t[3]))) {
                _.label = op[1];
                break;
              }
              if (op[0] === 6 && _.label < t[1]) {
                _.label = t[1];
                t = op;
                break;
              }
              if (t && _.label < t[2]) {
                _.label = t[2];
                _.ops.push(op);
                break;
              }
              if (t[2]) _.ops.pop();
              _.trys.pop();
              continue;
          }
          op = body.call(thisArg, _);
        } catch (e) {
          op = [6, e];
          y = 0;
        } finally {
          f = t = 0;
        }
      if (op[0] & 5) throw op[1];
      return { value: op[0] ? op[1] : void 0, done: true };
    }
  };
import { batch, computed, effect, signal } from '@preact/signals';
import { server } from './server.ts';
import * as s from './session.ts';
import { explainWaiting } from './waiting-words.ts';
/** The node with its pods, as the server told it last; null while it has not. */
export var overview = signal(null);
export var overviewError = signal('');
/** The moment that is looked at; null: the newest. */
export var overviewAt = computed(function () {
  var _a;
  return s.uid.value === '' ? ((_a = s.moment.value.at) !== null && _a !== void 0 ? _a : null) : null;
});
/** While the node moves on, it is asked for at most this often, ms. */
var AGAIN_MS = 1000;
/** And where nothing happens this often. */
var IDLE_MS = 5000;
var running = false;
var again = false;
var timer = 0;
/** Loads what is shown while no pod is chosen; of several wishes during one load only the last counts. */
export function loadOverview() {
  if (running) {
    again = true;
    return;
  }
  void run();
}
function run() {
  return __awaiter(this, void 0, void 0, function () {
    var _loop_1;
    return __generator(this, function (_a) {
      switch (_a.label) {
        case 0:
          running = true;
          _a.label = 1;
        case 1:
          _a.trys.push([1, , 6, 7]);
          _loop_1 = function () {
            var at, told_1, error_1;
            return __generator(this, function (_b) {
              switch (_b.label) {
                case 0:
                  again = false;
                  at = overviewAt.value;
                  _b.label = 1;
                case 1:
                  _b.trys.push([1, 3, , 4]);
                  return [4 /*yield*/, server.overview(at)];
                case 2:
                  told_1 = _b.sent();
                  batch(function () {
                    overview.value = told_1;
                    overviewError.value = '';
                  });
                  explainWaiting(told_1.waiting.pods, at === null);
                  return [3 /*break*/, 4];
                case 3:
                  error_1 = _b.sent();
                  overviewError.value = error_1 instanceof Error ? error_1.message : String(error_1);
                  return [3 /*break*/, 4];
                case 4:
                  return [2 /*return*/];
              }
            });
          };
          _a.label = 2;
        case 2:
          return [5 /*yield**/, _loop_1()];
        case 3:
          _a.sent();
          _a.label = 4;
        case 4:
          if (again) return [3 /*break*/, 2];
          _a.label = 5;
        case 5:
          return [3 /*break*/, 7];
        case 6:
          running = false;
          return [7 /*endfinally*/];
        case 7:
          return [2 /*return*/];
      }
    });
  });
}
function loadSoon() {
  timer ||
    (timer = window.setTimeout(function () {
      timer = 0;
      if (s.uid.peek() === '') loadOverview();
    }, AGAIN_MS));
}
// Where nothing happens, time goes on nevertheless.
effect(function () {
  var told = overview.value;
  if (told === null || s.uid.value !== '' || s.connection.value !== 'live') return;
  if (s.now.value - told.to > Math.max(IDLE_MS, told.history.width)) loadSoon();
});
// First when the page is connected, then whenever something of the node or a pod has changed.
effect(function () {
  void s.pods.value;
  void s.node.value;
  if (s.uid.value !== '' || !s.podsLoaded.value) return;
  if (overview.peek() === null) loadOverview();
  else loadSoon();
});
