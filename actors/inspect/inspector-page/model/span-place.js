/** The span that a moment lies in; null, the newest, is in the last. */
export function spanAt(_a, at) {
  var start = _a.start,
    width = _a.width,
    length = _a.length;
  if (at === null) return length - 1;
  return Math.max(0, Math.min(length - 1, Math.floor((at - start) / width)));
}
/** The last moment of a span. */
export function spanEnd(_a, number) {
  var start = _a.start,
    width = _a.width;
  return start + (number + 1) * width - 1;
}
/** Where spans end, as parts (0 to `wide`) of the time from `from` to `to`. */
export function spanEnds(_a, from, to, wide) {
  var start = _a.start,
    width = _a.width,
    length = _a.length;
  var whole = Math.max(1, to - from);
  return Array.from({ length: length }, function (_, i) {
    return i === length - 1 ? wide : Math.max(0, Math.min(wide, ((start + (i + 1) * width - from) / whole) * wide));
  });
}
