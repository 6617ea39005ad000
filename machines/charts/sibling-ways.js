/**
 * The two sibling states that a way leads between, after stepping out of all that is not shared, and the path of the state
 * that they stand in ('' = the machine); null for a way that stays within one of them, or of the machine itself ('').
 */
export function liftToSiblings(from, to) {
  if (from === '' || to === '') return null;
  var _a = [from.split('.'), to.split('.')],
    outer = _a[0],
    other = _a[1];
  var _loop_1 = function (i) {
    if (outer[i] === other[i]) return 'continue';
    var path = function (parts) {
      return parts.slice(0, i + 1).join('.');
    };
    return { value: { level: outer.slice(0, i).join('.'), from: path(outer), to: path(other) } };
  };
  for (var i = 0; i < Math.min(outer.length, other.length); i++) {
    var state_1 = _loop_1(i);
    if (typeof state_1 === 'object') return state_1.value;
  }
  return null;
}
