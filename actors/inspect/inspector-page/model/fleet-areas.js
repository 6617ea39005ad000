import { toneOf } from './state-names.ts';
/** From the bottom up: what is well carries what is not, so that trouble stands out at the top. */
export var BANDS = ['ok', 'end', 'stop', 'wait', 'fail'];
/** How the bands are called beside the chart. */
export var BAND_NAMES = {
  ok: 'running',
  wait: 'waiting',
  fail: 'failing',
  stop: 'stopping',
  end: 'ended',
};
/** Puts the states' counts together by tone. */
export function bandCounts(_a) {
  var _b, _c;
  var length = _a.length,
    states = _a.states;
  var none = function () {
    return Array.from({ length: length }, function () {
      return 0;
    });
  };
  var bands = { ok: none(), wait: none(), fail: none(), stop: none(), end: none() };
  for (var _i = 0, states_1 = states; _i < states_1.length; _i++) {
    var _d = states_1[_i],
      state = _d.state,
      counts = _d.counts;
    var row = bands[toneOf(state)];
    for (var i = 0; i < length; i++)
      row[i] =
        ((_b = row[i]) !== null && _b !== void 0 ? _b : 0) +
        Math.max(0, (_c = counts[i]) !== null && _c !== void 0 ? _c : 0);
  }
  return bands;
}
/** Most pods at once. */
export function mostPods(counts, length) {
  var most = 0;
  var _loop_1 = function (i) {
    most = Math.max(
      most,
      BANDS.reduce(function (sum, tone) {
        var _a;
        return sum + ((_a = counts[tone][i]) !== null && _a !== void 0 ? _a : 0);
      }, 0),
    );
  };
  for (var i = 0; i < length; i++) {
    _loop_1(i);
  }
  return most;
}
/**
 * The bands as filled steps, one path each, in a box that is as wide as `ends`: where each span ends, in the caller's
 * units. A band that is empty all the time has no path.
 */
export function areaPaths(counts, ends, _a) {
  var height = _a.height,
    thin = _a.thin;
  var most = mostPods(counts, ends.length);
  var scale = most === 0 ? 0 : (height - BANDS.length * thin) / most;
  var tall = function (tone, i) {
    var _a;
    var count = (_a = counts[tone][i]) !== null && _a !== void 0 ? _a : 0;
    return count === 0 ? 0 : Math.max(thin, count * scale);
  };
  var floor = ends.map(function () {
    return 0;
  });
  var paths = new Map();
  var _loop_2 = function (tone) {
    var top_1 = ends.map(function (_, i) {
      var _a;
      return ((_a = floor[i]) !== null && _a !== void 0 ? _a : 0) + tall(tone, i);
    });
    if (
      top_1.some(function (y, i) {
        var _a;
        return y > ((_a = floor[i]) !== null && _a !== void 0 ? _a : 0);
      })
    )
      paths.set(tone, band(ends, floor, top_1, height));
    top_1.forEach(function (y, i) {
      return (floor[i] = y);
    });
  };
  for (var _i = 0, BANDS_1 = BANDS; _i < BANDS_1.length; _i++) {
    var tone = BANDS_1[_i];
    _loop_2(tone);
  }
  return paths;
}
/** Along the top to the right, back along the floor. */
function band(ends, floor, top, height) {
  var y = function (up) {
    return (Math.round((height - (up !== null && up !== void 0 ? up : 0)) * 10) / 10).toString();
  };
  var x = function (at) {
    return (Math.round((at !== null && at !== void 0 ? at : 0) * 10) / 10).toString();
  };
  var d = 'M0 '.concat(y(top[0]));
  for (var i = 0; i < ends.length; i++) {
    if (i === 0 || top[i] !== top[i - 1]) d += 'V'.concat(y(top[i]));
    if (i === ends.length - 1 || top[i] !== top[i + 1]) d += 'H'.concat(x(ends[i]));
  }
  d += 'V'.concat(y(floor.at(-1)));
  for (var i = ends.length - 1; i > 0; i--)
    if (floor[i] !== floor[i - 1]) d += 'H'.concat(x(ends[i - 1]), 'V').concat(y(floor[i - 1]));
  return ''.concat(d, 'H0Z');
}
