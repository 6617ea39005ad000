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
var __classPrivateFieldSet =
  (this && this.__classPrivateFieldSet) ||
  function (receiver, state, value, kind, f) {
    if (kind === 'm') throw new TypeError('Private method is not writable');
    if (kind === 'a' && !f) throw new TypeError('Private accessor was defined without a setter');
    if (typeof state === 'function' ? receiver !== state || !f : !state.has(receiver))
      throw new TypeError('Cannot write private member to an object whose class did not declare it');
    return (kind === 'a' ? f.call(receiver, value) : f ? (f.value = value) : state.set(receiver, value), value);
  };
var __classPrivateFieldGet =
  (this && this.__classPrivateFieldGet) ||
  function (receiver, state, kind, f) {
    if (kind === 'a' && !f) throw new TypeError('Private accessor was defined without a getter');
    if (typeof state === 'function' ? receiver !== state || !f : !state.has(receiver))
      throw new TypeError('Cannot read private member from an object whose class did not declare it');
    return kind === 'm' ? f : kind === 'a' ? f.call(receiver) : f ? f.value : state.get(receiver);
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
var _StepStore_instances, _StepStore_blocks, _StepStore_wanted, _StepStore_tried, _StepStore_most, _StepStore_endOf;
/** Steps in one request and one block of the store. */
export var BLOCK = 1000;
/** Steps of one pod, loaded block by block and forgotten when far away: 100,000 steps do not have to be held. */
var StepStore = /** @class */ (function () {
  /** `most`: blocks that are kept. */
  function StepStore(most) {
    if (most === void 0) {
      most = 30;
    }
    _StepStore_instances.add(this);
    _StepStore_blocks.set(this, new Map());
    _StepStore_wanted.set(this, new Set());
    /** Blocks of which all was asked for once, by the total at that time: an answer that brought nothing is not repeated. */
    _StepStore_tried.set(this, new Map());
    _StepStore_most.set(this, void 0);
    this.total = 0;
    /** Oldest step that can be had. */
    this.first = 0;
    __classPrivateFieldSet(this, _StepStore_most, most, 'f');
  }
  /** The step, when it is loaded. */
  StepStore.prototype.at = function (index) {
    var _a;
    return (_a = __classPrivateFieldGet(this, _StepStore_blocks, 'f').get(Math.floor(index / BLOCK))) === null ||
      _a === void 0
      ? void 0
      : _a[index % BLOCK];
  };
  /** Blocks that cover `from` to `to` (inclusive), lack steps, and are not under way; marks them as asked for. */
  StepStore.prototype.take = function (from, to) {
    var missing = [];
    var last = Math.min(to, this.total - 1);
    if (last < this.first) return missing;
    for (var b = Math.floor(Math.max(this.first, from) / BLOCK); b <= Math.floor(last / BLOCK); b++) {
      if (
        __classPrivateFieldGet(this, _StepStore_wanted, 'f').has(b) ||
        this.nextOf(b) >= __classPrivateFieldGet(this, _StepStore_instances, 'm', _StepStore_endOf).call(this, b)
      )
        continue;
      __classPrivateFieldGet(this, _StepStore_wanted, 'f').add(b);
      __classPrivateFieldGet(this, _StepStore_tried, 'f').set(b, this.total);
      missing.push(b);
    }
    return missing;
  };
  /** First index that a request for the block has to ask for: what is there is not asked again. */
  StepStore.prototype.nextOf = function (block) {
    var known = __classPrivateFieldGet(this, _StepStore_blocks, 'f').get(block);
    var index = Math.max(block * BLOCK, this.first);
    while (
      (known === null || known === void 0 ? void 0 : known[index % BLOCK]) !== undefined &&
      index < (block + 1) * BLOCK
    ) {
      index++;
      if (index % BLOCK === 0) break;
    }
    return index;
  };
  /** The block was asked for at the present total and nothing more of it is to be had, or it is complete. */
  StepStore.prototype.isTried = function (block) {
    return (
      __classPrivateFieldGet(this, _StepStore_tried, 'f').get(block) === this.total ||
      this.nextOf(block) >= __classPrivateFieldGet(this, _StepStore_instances, 'm', _StepStore_endOf).call(this, block)
    );
  };
  /** Takes in what a request brought. `near`: the index that is looked at; blocks far from it are forgotten first. */
  StepStore.prototype.put = function (block, steps, near) {
    var _a;
    __classPrivateFieldGet(this, _StepStore_wanted, 'f').delete(block);
    var known =
      (_a = __classPrivateFieldGet(this, _StepStore_blocks, 'f').get(block)) !== null && _a !== void 0 ? _a : [];
    for (var _i = 0, steps_1 = steps; _i < steps_1.length; _i++) {
      var step = steps_1[_i];
      var within = step.index - block * BLOCK;
      if (within >= 0 && within < BLOCK) known[within] = step;
    }
    __classPrivateFieldGet(this, _StepStore_blocks, 'f').set(block, known);
    if (__classPrivateFieldGet(this, _StepStore_blocks, 'f').size <= __classPrivateFieldGet(this, _StepStore_most, 'f'))
      return;
    var here = near / BLOCK;
    var far = __spreadArray([], __classPrivateFieldGet(this, _StepStore_blocks, 'f').keys(), true).sort(
      function (a, b) {
        return Math.abs(b - here) - Math.abs(a - here);
      },
    )[0];
    if (far !== undefined && far !== block) __classPrivateFieldGet(this, _StepStore_blocks, 'f').delete(far);
  };
  /** Notes in steps that are loaded who answered them: an outcome comes after its effect was told. */
  StepStore.prototype.settle = function (step) {
    var _a;
    var asked = step.answers === undefined ? undefined : this.at(step.answers.index);
    var effect =
      asked === null || asked === void 0
        ? void 0
        : asked.effects.find(function (e) {
            var _a;
            return e.key === ((_a = step.answers) === null || _a === void 0 ? void 0 : _a.key) && e.key !== '';
          });
    if (effect !== undefined)
      (_a = effect.answeredBy) !== null && _a !== void 0 ? _a : (effect.answeredBy = step.index);
  };
  /** A request failed: the block may be asked for again. */
  StepStore.prototype.release = function (block) {
    __classPrivateFieldGet(this, _StepStore_wanted, 'f').delete(block);
    __classPrivateFieldGet(this, _StepStore_tried, 'f').delete(block);
  };
  /** All loaded steps in order. */
  StepStore.prototype.loaded = function () {
    var _i, _a, b, _b, _c, step;
    var _d;
    return __generator(this, function (_e) {
      switch (_e.label) {
        case 0:
          ((_i = 0),
            (_a = __spreadArray([], __classPrivateFieldGet(this, _StepStore_blocks, 'f').keys(), true).sort(
              function (a, c) {
                return a - c;
              },
            )));
          _e.label = 1;
        case 1:
          if (!(_i < _a.length)) return [3 /*break*/, 6];
          b = _a[_i];
          ((_b = 0),
            (_c =
              (_d = __classPrivateFieldGet(this, _StepStore_blocks, 'f').get(b)) !== null && _d !== void 0 ? _d : []));
          _e.label = 2;
        case 2:
          if (!(_b < _c.length)) return [3 /*break*/, 5];
          step = _c[_b];
          if (!(step !== undefined)) return [3 /*break*/, 4];
          return [4 /*yield*/, step];
        case 3:
          _e.sent();
          _e.label = 4;
        case 4:
          _b++;
          return [3 /*break*/, 2];
        case 5:
          _i++;
          return [3 /*break*/, 1];
        case 6:
          return [2 /*return*/];
      }
    });
  };
  return StepStore;
})();
export { StepStore };
((_StepStore_blocks = new WeakMap()),
  (_StepStore_wanted = new WeakMap()),
  (_StepStore_tried = new WeakMap()),
  (_StepStore_most = new WeakMap()),
  (_StepStore_instances = new WeakSet()),
  (_StepStore_endOf = function _StepStore_endOf(block) {
    return Math.min((block + 1) * BLOCK, this.total);
  }));
