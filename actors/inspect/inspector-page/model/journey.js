/** Key of a way. */
export function wayKey(from, to) {
  return ''.concat(from, '>').concat(to);
}
/** Ways that the pod took in these steps, up to and with step `until`. */
export function waysTaken(steps, until) {
  var ways = new Map();
  for (var _i = 0, steps_1 = steps; _i < steps_1.length; _i++) {
    var step = steps_1[_i];
    if (step.index > until || step.before === step.after || step.before === '') continue;
    var key = wayKey(step.before, step.after);
    var known = ways.get(key);
    if (known === undefined) ways.set(key, { from: step.before, to: step.after, times: 1, last: step.index });
    else {
      known.times++;
      known.last = Math.max(known.last, step.index);
    }
  }
  return ways;
}
/** The last way that was taken, if any. */
export function lastWay(ways) {
  var last;
  for (var _i = 0, _a = ways.values(); _i < _a.length; _i++) {
    var way = _a[_i];
    if (last === undefined || way.last > last.last) last = way;
  }
  return last;
}
