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
import { batch, effect } from '@preact/signals';
import { mergePods } from '../model/pod-list.ts';
import { retryDelay } from '../model/retry-delay.ts';
import { loadDetail } from './detail.ts';
import { onMoreSteps } from './load-steps.ts';
import { liveAddress, server, ServerError } from './server.ts';
import * as s from './session.ts';
import { startPod } from './travel.ts';
var failures = 0;
var timer = 0;
/** News of pods by uid; null: it is no longer in the journal. */
var told = new Map();
var flushing = 0;
/** Pods are taken into the list at most this often, ms: a busy node tells of many a second. */
var FLUSH_MS = 250;
/** Loads what the page needs first, then listens; tries again, ever more slowly, when the server is away. */
export function connect() {
  return __awaiter(this, void 0, void 0, function () {
    var _a, about_1, pods_1, node_1, error_1;
    return __generator(this, function (_b) {
      switch (_b.label) {
        case 0:
          clearTimeout(timer);
          s.retryAt.value = 0;
          _b.label = 1;
        case 1:
          _b.trys.push([1, 3, , 4]);
          return [4 /*yield*/, Promise.all([server.about(), server.pods(), server.node()])];
        case 2:
          ((_a = _b.sent()), (about_1 = _a[0]), (pods_1 = _a[1]), (node_1 = _a[2]));
          batch(function () {
            var _a, _b;
            s.about.value = about_1;
            s.node.value = node_1;
            s.pods.value = new Map(
              pods_1.map(function (pod) {
                return [pod.uid, pod];
              }),
            );
            var first = !s.podsLoaded.value;
            s.podsLoaded.value = true;
            s.trouble.value = '';
            s.now.value = about_1.mode === 'live' ? Date.now() : about_1.to;
            if (first) startPod();
            else
              onMoreSteps(
                (_b = (_a = s.pod.value) === null || _a === void 0 ? void 0 : _a.steps) !== null && _b !== void 0
                  ? _b
                  : 0,
              );
            s.connection.value = about_1.mode === 'live' ? s.connection.value : 'files';
          });
          failures = 0;
          if (about_1.mode === 'live') listen();
          return [3 /*break*/, 4];
        case 3:
          error_1 = _b.sent();
          s.trouble.value = error_1 instanceof Error ? error_1.message : String(error_1);
          if (error_1 instanceof ServerError && (error_1.status === 401 || error_1.status === 403)) {
            s.connection.value = 'refused';
            return [2 /*return*/];
          }
          retry();
          return [3 /*break*/, 4];
        case 4:
          return [2 /*return*/];
      }
    });
  });
}
function retry() {
  var delay = retryDelay(failures++, Math.random());
  s.connection.value = 'lost';
  s.retryAt.value = Date.now() + delay;
  clearTimeout(timer);
  timer = window.setTimeout(function () {
    return void connect();
  }, delay);
}
function listen() {
  var socket = new WebSocket(liveAddress());
  socket.addEventListener('open', function () {
    s.connection.value = 'live';
    s.trouble.value = '';
  });
  socket.addEventListener('message', function (event) {
    take(JSON.parse(event.data));
  });
  socket.addEventListener('close', function () {
    retry();
  });
}
function take(message) {
  if (message.type === 'steps') {
    if (message.uid === s.uid.value) onMoreSteps(message.total);
    return;
  }
  if (message.type === 'node') {
    s.node.value = message.node;
    return;
  }
  if (message.type === 'lost')
    for (var _i = 0, _a = message.uids; _i < _a.length; _i++) {
      var uid = _a[_i];
      told.set(uid, null);
    }
  else
    for (var _b = 0, _c = message.pods; _b < _c.length; _b++) {
      var pod = _c[_b];
      told.set(pod.uid, pod);
    }
  flushing || (flushing = window.setTimeout(flush, FLUSH_MS));
}
function flush() {
  flushing = 0;
  var news = told;
  told = new Map();
  batch(function () {
    var _a, _b;
    s.pods.value = mergePods(s.pods.value, news);
    onMoreSteps(
      (_b = (_a = s.pod.value) === null || _a === void 0 ? void 0 : _a.steps) !== null && _b !== void 0 ? _b : 0,
    );
  });
}
// Whoever follows the newest step sees its details as they come.
effect(function () {
  if (s.following.value && s.total.value > 0) loadDetail();
});
window.setInterval(function () {
  var _a;
  if (((_a = s.about.value) === null || _a === void 0 ? void 0 : _a.mode) === 'live' || s.connection.value === 'lost')
    s.now.value = Date.now();
}, 1000);
