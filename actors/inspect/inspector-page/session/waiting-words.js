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
var __spreadArray =
  (this && this.__spreadArray) ||
  function (to, from, pack) {
    if (pack || arguments.length === 2)
      for (var i = 0, l = from.length, ar; i < l; i++) {
        if (ar || !(i in from)) {
          if (!ar) ar = Array.prototype.slice.call(from, 0, i);
          ar[i] = from[i];
        }
      }
    return to.concat(ar || Array.prototype.slice.call(from));
  };
import { signal } from '@preact/signals';
import { server } from './server.ts';
/** By the pod's UID; of the pods that the list names. */
export var waitingWords = signal(new Map());
/** A pod that goes on is explained anew at most this often, ms: each explanation replays its machine. */
var AGAIN_MS = 5000;
var wanted = [];
var isNewest = true;
var when = new Map();
var running = false;
var timer = 0;
/** Has these pods explained, one after the other. @param newest they are told of as they are now, and go on */
export function explainWaiting(pods, newest) {
  wanted = pods;
  isNewest = newest;
  if (!running) void run();
}
function run() {
  return __awaiter(this, void 0, void 0, function () {
    var tried, pod, _a, _b, _c;
    return __generator(this, function (_d) {
      switch (_d.label) {
        case 0:
          running = true;
          clearTimeout(timer);
          tried = new Set();
          _d.label = 1;
        case 1:
          _d.trys.push([1, , 8, 9]);
          _d.label = 2;
        case 2:
          pod = wanted.find(function (p) {
            return isDue(p) && !tried.has(''.concat(p.uid, ' ').concat(String(p.step)));
          });
          if (pod === undefined) return [3 /*break*/, 7];
          tried.add(''.concat(pod.uid, ' ').concat(String(pod.step)));
          when.set(pod.uid, performance.now());
          _d.label = 3;
        case 3:
          _d.trys.push([3, 5, , 6]);
          _a = keep;
          _b = [pod];
          return [4 /*yield*/, server.explain(pod.uid, pod.step)];
        case 4:
          _a.apply(void 0, _b.concat([_d.sent()]));
          return [3 /*break*/, 6];
        case 5:
          _c = _d.sent();
          return [3 /*break*/, 6];
        case 6:
          return [3 /*break*/, 2];
        case 7:
          return [3 /*break*/, 9];
        case 8:
          running = false;
          return [7 /*endfinally*/];
        case 9:
          if (
            wanted.some(function (pod) {
              return !isCurrent(pod);
            })
          )
            timer = window.setTimeout(function () {
              return void run();
            }, AGAIN_MS);
          return [2 /*return*/];
      }
    });
  });
}
function isCurrent(_a) {
  var _b;
  var uid = _a.uid,
    step = _a.step;
  return step < 0 || ((_b = waitingWords.value.get(uid)) === null || _b === void 0 ? void 0 : _b.step) === step;
}
function isDue(pod) {
  var _a;
  if (isCurrent(pod)) return false;
  return (
    !isNewest || performance.now() - ((_a = when.get(pod.uid)) !== null && _a !== void 0 ? _a : -Infinity) > AGAIN_MS
  );
}
function keep(_a, _b) {
  var _c, _d;
  var uid = _a.uid,
    step = _a.step;
  var summary = _b.summary,
    causes = _b.causes,
    next = _b.next;
  var there = new Set(
    wanted.map(function (pod) {
      return pod.uid;
    }),
  );
  var kept = __spreadArray([], waitingWords.value, true).filter(function (_a) {
    var other = _a[0];
    return there.has(other);
  });
  for (var _i = 0, _e = when.keys(); _i < _e.length; _i++) {
    var other = _e[_i];
    if (!there.has(other)) when.delete(other);
  }
  var words = {
    step: step,
    cause: (_d = (_c = causes[0]) === null || _c === void 0 ? void 0 : _c.text) !== null && _d !== void 0 ? _d : '',
    summary: summary,
    next: next !== null && next !== void 0 ? next : null,
  };
  waitingWords.value = new Map(__spreadArray(__spreadArray([], kept, true), [[uid, words]], false));
}
