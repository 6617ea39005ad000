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
import { server, ServerError } from './server.ts';
import * as s from './session.ts';
/** Details of the pod that is shown, by step; few, since one may hold a megabyte. */
var cache = new Map();
var cachedFor = '';
var MOST = 24;
var running = false;
var again = false;
var abort = new AbortController();
/**
 * Loads everything about the shown step and the one before it. While one load runs, later wishes wait and only the
 * last of them counts: holding a key down costs as many requests as the server answers.
 */
export function loadDetail() {
  if (running) {
    again = true;
    return;
  }
  void run();
}
function run() {
  return __awaiter(this, void 0, void 0, function () {
    return __generator(this, function (_a) {
      switch (_a.label) {
        case 0:
          running = true;
          _a.label = 1;
        case 1:
          _a.trys.push([1, , 6, 7]);
          _a.label = 2;
        case 2:
          again = false;
          return [4 /*yield*/, loadOnce()];
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
function loadOnce() {
  return __awaiter(this, void 0, void 0, function () {
    var uid, index, _a, detail, previous, error_1;
    return __generator(this, function (_b) {
      switch (_b.label) {
        case 0:
          uid = s.uid.value;
          index = s.index.value;
          if (uid === '' || index < 0) return [2 /*return*/];
          if (cachedFor !== uid) {
            cache = new Map();
            cachedFor = uid;
          }
          _b.label = 1;
        case 1:
          _b.trys.push([1, 3, , 4]);
          return [
            4 /*yield*/,
            Promise.all([detailAt(uid, index), index > 0 ? detailAt(uid, index - 1) : Promise.resolve(null)]),
          ];
        case 2:
          ((_a = _b.sent()), (detail = _a[0]), (previous = _a[1]));
          if (uid !== s.uid.value) return [2 /*return*/];
          s.shown.value = { uid: uid, index: index, detail: detail, previous: previous };
          s.shownError.value = '';
          loadExplanation(uid, index);
          return [3 /*break*/, 4];
        case 3:
          error_1 = _b.sent();
          if (uid === s.uid.value) s.shownError.value = error_1 instanceof Error ? error_1.message : String(error_1);
          return [3 /*break*/, 4];
        case 4:
          return [2 /*return*/];
      }
    });
  });
}
function detailAt(uid, index) {
  return __awaiter(this, void 0, void 0, function () {
    var known, detail, _i, _a, old;
    return __generator(this, function (_b) {
      switch (_b.label) {
        case 0:
          known = cache.get(index);
          if (known !== undefined) {
            // Used last, forgotten last.
            cache.delete(index);
            cache.set(index, known);
            return [2 /*return*/, known];
          }
          return [4 /*yield*/, server.detail(uid, index)];
        case 1:
          detail = _b.sent();
          if (uid === cachedFor) {
            cache.set(index, detail);
            for (_i = 0, _a = cache.keys(); _i < _a.length; _i++) {
              old = _a[_i];
              if (cache.size <= MOST) break;
              cache.delete(old);
            }
          }
          return [2 /*return*/, detail];
      }
    });
  });
}
var waiting = 0;
var refused = 0;
function loadExplanation(uid, index) {
  var _a;
  clearTimeout(waiting);
  if (((_a = s.explanation.value) === null || _a === void 0 ? void 0 : _a.index) === index) return;
  if (refused > 2 && s.view.value !== 'explain') return;
  // Not for each step of a playback.
  waiting = window.setTimeout(function () {
    abort.abort();
    abort = new AbortController();
    server.explain(uid, index, abort.signal).then(
      function (value) {
        refused = 0;
        if (uid === s.uid.value) s.explanation.value = { index: index, value: value };
      },
      function (error) {
        // A server without it: after a few tries it is asked only when someone wants to see it.
        if (error instanceof ServerError) refused++;
        if (uid === s.uid.value && !abort.signal.aborted) s.explanation.value = null;
      },
    );
  }, 120);
}
