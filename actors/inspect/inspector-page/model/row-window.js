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
var _RowHeights_blockSize, _RowHeights_guess, _RowHeights_count, _RowHeights_blocks, _RowHeights_tops;
/** Rows of equal height that are in view, with some more on either side so that a quick scroll shows no gap. */
export function rowWindow(scrollTop, height, rowHeight, count, spare) {
  if (spare === void 0) {
    spare = 8;
  }
  var first = Math.floor(scrollTop / rowHeight);
  var last = Math.ceil((scrollTop + height) / rowHeight);
  return {
    start: Math.max(0, Math.min(first - spare, count)),
    end: Math.max(0, Math.min(last + spare, count)),
  };
}
/**
 * Where to scroll so that rows `top`..`bottom` (px) are in view: the same place when they are, else the shortest way;
 * a far jump puts them in the middle.
 */
export function scrollFor(scrollTop, height, top, bottom) {
  if (top >= scrollTop && bottom <= scrollTop + height) return scrollTop;
  if (Math.abs(top - scrollTop) > 2 * height) return Math.max(0, (top + bottom - height) / 2);
  return top < scrollTop ? top : bottom - height;
}
/** Heights of many rows of which some are not known yet: sums by block, so that 100,000 rows cost nothing. */
var RowHeights = /** @class */ (function () {
  /** `guess`: px of a row that is not known. */
  function RowHeights(blockSize, guess) {
    _RowHeights_blockSize.set(this, void 0);
    _RowHeights_guess.set(this, void 0);
    _RowHeights_count.set(this, 0);
    _RowHeights_blocks.set(this, []);
    _RowHeights_tops.set(this, [0]);
    __classPrivateFieldSet(this, _RowHeights_blockSize, blockSize, 'f');
    __classPrivateFieldSet(this, _RowHeights_guess, guess, 'f');
  }
  /** Sets all: `heightsOf` gives the heights of a block's rows, or null when they are not known. */
  RowHeights.prototype.measure = function (count, heightsOf) {
    var _a, _b;
    __classPrivateFieldSet(this, _RowHeights_count, count, 'f');
    __classPrivateFieldSet(this, _RowHeights_blocks, [], 'f');
    __classPrivateFieldSet(this, _RowHeights_tops, [0], 'f');
    var blocks = Math.ceil(count / __classPrivateFieldGet(this, _RowHeights_blockSize, 'f'));
    for (var b = 0; b < blocks; b++) {
      var rows = Math.min(
        __classPrivateFieldGet(this, _RowHeights_blockSize, 'f'),
        count - b * __classPrivateFieldGet(this, _RowHeights_blockSize, 'f'),
      );
      var known = heightsOf(b);
      var height = 0;
      var tops = null;
      if (known === null) height = rows * __classPrivateFieldGet(this, _RowHeights_guess, 'f');
      else {
        tops = [];
        for (var i = 0; i < rows; i++) {
          tops.push(height);
          height +=
            (_a = known[i]) !== null && _a !== void 0 ? _a : __classPrivateFieldGet(this, _RowHeights_guess, 'f');
        }
      }
      __classPrivateFieldGet(this, _RowHeights_blocks, 'f').push(tops);
      __classPrivateFieldGet(this, _RowHeights_tops, 'f').push(
        ((_b = __classPrivateFieldGet(this, _RowHeights_tops, 'f')[b]) !== null && _b !== void 0 ? _b : 0) + height,
      );
    }
  };
  Object.defineProperty(RowHeights.prototype, 'total', {
    /** Height of all rows, px. */
    get: function () {
      var _a;
      return (_a = __classPrivateFieldGet(this, _RowHeights_tops, 'f').at(-1)) !== null && _a !== void 0 ? _a : 0;
    },
    enumerable: false,
    configurable: true,
  });
  /** Top of a row, px; that of the end for an index past it. */
  RowHeights.prototype.topOf = function (index) {
    var _a, _b, _c;
    if (index >= __classPrivateFieldGet(this, _RowHeights_count, 'f')) return this.total;
    var block = Math.floor(index / __classPrivateFieldGet(this, _RowHeights_blockSize, 'f'));
    var within = index % __classPrivateFieldGet(this, _RowHeights_blockSize, 'f');
    return (
      ((_a = __classPrivateFieldGet(this, _RowHeights_tops, 'f')[block]) !== null && _a !== void 0 ? _a : 0) +
      ((_c =
        (_b = __classPrivateFieldGet(this, _RowHeights_blocks, 'f')[block]) === null || _b === void 0
          ? void 0
          : _b[within]) !== null && _c !== void 0
        ? _c
        : within * __classPrivateFieldGet(this, _RowHeights_guess, 'f'))
    );
  };
  /** Row at a height, px. */
  RowHeights.prototype.rowAt = function (y) {
    var low = 0;
    var high = Math.max(0, __classPrivateFieldGet(this, _RowHeights_count, 'f') - 1);
    while (low < high) {
      var middle = (low + high + 1) >> 1;
      if (this.topOf(middle) <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  return RowHeights;
})();
export { RowHeights };
((_RowHeights_blockSize = new WeakMap()),
  (_RowHeights_guess = new WeakMap()),
  (_RowHeights_count = new WeakMap()),
  (_RowHeights_blocks = new WeakMap()),
  (_RowHeights_tops = new WeakMap()));
