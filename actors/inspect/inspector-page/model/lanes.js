/** Columns of the sequence diagram, from left to right: who orders, the pod, who carries out. */
export var LANES = ['sources', 'supervisor', 'pleg', 'timer', 'pod', 'cri', 'host', 'network', 'images', 'api'];
/** Whether the step tells of something that went wrong. */
export function hasFailed(step) {
  var _a;
  return (
    ((_a = step.answers) === null || _a === void 0 ? void 0 : _a.failed) === true ||
    step.message === 'effect.failed' ||
    step.fault !== undefined
  );
}
/** Cuts all steps into at most `most` cells of equal width. */
export function stripCells(total, most, at) {
  var cells = [];
  var count = Math.min(total, most);
  for (var c = 0; c < count; c++) {
    var from = Math.floor((c * total) / count);
    var to = Math.max(from, Math.floor(((c + 1) * total) / count) - 1);
    cells.push(cellOf(from, to, at));
  }
  return cells;
}
function cellOf(from, to, at) {
  var _a;
  var _b;
  var counts = new Map();
  var failed = false;
  var moved = false;
  for (var i = from; i <= to; i++) {
    var step = at(i);
    if (step === undefined) continue;
    counts.set(step.from, ((_b = counts.get(step.from)) !== null && _b !== void 0 ? _b : 0) + 1);
    failed || (failed = hasFailed(step));
    moved || (moved = step.before !== step.after);
  }
  var lane = null;
  var most = 0;
  for (var _i = 0, counts_1 = counts; _i < counts_1.length; _i++) {
    var _c = counts_1[_i],
      name_1 = _c[0],
      n = _c[1];
    if (n > most) ((_a = [name_1, n]), (lane = _a[0]), (most = _a[1]));
  }
  return { from: from, to: to, lane: lane, failed: failed, moved: moved };
}
/** Lanes that take part in these steps, in their order; the pod always does. */
export function lanesOf(steps) {
  var used = new Set(['pod']);
  for (var _i = 0, steps_1 = steps; _i < steps_1.length; _i++) {
    var step = steps_1[_i];
    used.add(step.from);
    for (var _a = 0, _b = step.effects; _a < _b.length; _a++) {
      var effect = _b[_a];
      used.add(effect.to);
    }
    if (used.size === LANES.length) break;
  }
  return LANES.filter(function (lane) {
    return used.has(lane);
  });
}
