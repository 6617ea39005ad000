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
import { batch } from '@preact/signals';
import { BLOCK } from '../model/step-store.ts';
import { server } from './server.ts';
import * as s from './session.ts';
/** Pods with at most so many steps are loaded whole: their strip and their chart then tell everything. */
var WHOLE = 20000;
/** Asks for the steps around the shown one, and for those in view, `from` to `to`. */
export function loadAround(from, to) {
  if (from === void 0) {
    from = s.index.value - 200;
  }
  if (to === void 0) {
    to = s.index.value + 400;
  }
  for (var _i = 0, _a = s.steps.store.take(from, to); _i < _a.length; _i++) {
    var block = _a[_i];
    void loadBlock(block);
  }
  if (s.total.value === 0) void loadBlock(0);
}
function loadBlock(block) {
  return __awaiter(this, void 0, void 0, function () {
    var store, uid, page_1, _i, _a, b, error_1;
    return __generator(this, function (_b) {
      switch (_b.label) {
        case 0:
          store = s.steps.store;
          uid = s.uid.value;
          _b.label = 1;
        case 1:
          _b.trys.push([1, 3, , 4]);
          return [4 /*yield*/, server.steps(uid, store.nextOf(block), (block + 1) * BLOCK - store.nextOf(block))];
        case 2:
          page_1 = _b.sent();
          if (store !== s.steps.store) return [2 /*return*/];
          batch(function () {
            setTotal(page_1.total);
            s.first.value = page_1.first;
            store.first = page_1.first;
            store.put(block, page_1.steps, s.index.value);
            for (var _i = 0, _a = page_1.steps; _i < _a.length; _i++) {
              var step = _a[_i];
              store.settle(step);
            }
            s.stepsVersion.value++;
            s.stepsError.value = '';
          });
          // A page may be short when its messages are large: the rest of the block comes with the next request.
          if (page_1.steps.length > 0)
            for (_i = 0, _a = store.take(block * BLOCK, block * BLOCK); _i < _a.length; _i++) {
              b = _a[_i];
              void loadBlock(b);
            }
          loadRest();
          return [3 /*break*/, 4];
        case 3:
          error_1 = _b.sent();
          store.release(block);
          if (store === s.steps.store)
            s.stepsError.value = error_1 instanceof Error ? error_1.message : String(error_1);
          return [3 /*break*/, 4];
        case 4:
          return [2 /*return*/];
      }
    });
  });
}
/** One block more of a pod that is to be loaded whole, nearest to the shown step first. */
function loadRest() {
  if (s.total.value > WHOLE) return;
  var blocks = Math.ceil(s.total.value / BLOCK);
  var here = Math.floor(Math.max(0, s.index.value) / BLOCK);
  for (var distance = 0; distance < blocks; distance++) {
    for (var _i = 0, _a = [here - distance, here + distance]; _i < _a.length; _i++) {
      var block = _a[_i];
      if (block < 0 || block >= blocks || s.steps.store.isTried(block)) continue;
      var missing = s.steps.store.take(block * BLOCK, block * BLOCK + BLOCK - 1);
      if (missing.length === 0) continue;
      for (var _b = 0, missing_1 = missing; _b < missing_1.length; _b++) {
        var b = missing_1[_b];
        void loadBlock(b);
      }
      return;
    }
  }
}
/** A pod has more steps now. */
export function setTotal(total) {
  if (total <= s.total.value) return;
  s.total.value = total;
  s.steps.store.total = total;
}
/** The chosen pod went on while the page is open. */
export function onMoreSteps(total) {
  if (total <= s.total.value) return;
  batch(function () {
    setTotal(total);
    s.stepsVersion.value++;
  });
  // The tail is loaded even when the past is shown: the strip and the list go on.
  for (var _i = 0, _a = s.steps.store.take(total - 1, total - 1); _i < _a.length; _i++) {
    var block = _a[_i];
    void loadBlock(block);
  }
  if (s.following.value) loadAround();
}
