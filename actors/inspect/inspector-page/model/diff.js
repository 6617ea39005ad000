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
/** Key of a place: its keys joined by a character that JSON keys of Kubernetes do not hold. */
export function pathKey(path) {
  return path.join('\u0000');
}
/** Objects and arrays have parts; all else is a leaf. */
export function isBranch(value) {
  return typeof value === 'object' && value !== null;
}
function keysOf(value) {
  return Object.keys(value);
}
function childOf(value, key) {
  return value[key];
}
/** Names that tell list items apart in Kubernetes objects, tried in this order. */
var IDENTITIES = ['name', 'containerID', 'type', 'key', 'uid', 'ip'];
function identify(items) {
  if (items.length === 0) return null;
  var _loop_1 = function (field) {
    var ids = items.map(function (item) {
      return isBranch(item) && !Array.isArray(item) ? item[field] : undefined;
    });
    if (
      ids.every(function (id) {
        return typeof id === 'string';
      }) &&
      new Set(ids).size === ids.length
    )
      return { value: ids };
  };
  for (var _i = 0, IDENTITIES_1 = IDENTITIES; _i < IDENTITIES_1.length; _i++) {
    var field = IDENTITIES_1[_i];
    var state_1 = _loop_1(field);
    if (typeof state_1 === 'object') return state_1.value;
  }
  return null;
}
/**
 * Pairs the items of two lists by their name (or type, id ...), so that an item put in front does not mark all that
 * follow; by position when they have none. Gives for each item of `after` the index in `before` or -1.
 */
export function pairItems(before, after) {
  var a = identify(before);
  var b = identify(after);
  if (a === null || b === null)
    return after.map(function (_, i) {
      return i < before.length ? i : -1;
    });
  var at = new Map(
    a.map(function (id, i) {
      return [id, i];
    }),
  );
  return b.map(function (id) {
    var _a;
    return (_a = at.get(id)) !== null && _a !== void 0 ? _a : -1;
  });
}
/**
 * Changes from `before` to `after`, both plain JSON. A list item that went is told as `removed` under its old index
 * with a leading `-`, since the new list may hold another item at that index.
 */
export function diffTrees(before, after) {
  var changes = new Map();
  function compare(a, b, path) {
    if (a === b) return false;
    if (!isBranch(a) || !isBranch(b) || Array.isArray(a) !== Array.isArray(b)) {
      changes.set(pathKey(path), 'changed');
      return true;
    }
    var changed = Array.isArray(a) && Array.isArray(b) ? compareLists(a, b, path) : compareRecords(a, b, path);
    if (changed) changes.set(pathKey(path), 'inside');
    return changed;
  }
  function compareLists(a, b, path) {
    var pairs = pairItems(a, b);
    var kept = new Set(pairs);
    var changed = false;
    pairs.forEach(function (from, i) {
      var here = __spreadArray(__spreadArray([], path, true), [String(i)], false);
      if (from < 0) {
        changes.set(pathKey(here), 'added');
        changed = true;
      } else if (compare(a[from], b[i], here)) changed = true;
    });
    a.forEach(function (_, i) {
      if (kept.has(i)) return;
      changes.set(pathKey(__spreadArray(__spreadArray([], path, true), ['-'.concat(String(i))], false)), 'removed');
      changed = true;
    });
    return changed;
  }
  function compareRecords(a, b, path) {
    var left = a;
    var right = b;
    var changed = false;
    for (var _i = 0, _a = keysOf(right); _i < _a.length; _i++) {
      var key = _a[_i];
      var here = __spreadArray(__spreadArray([], path, true), [key], false);
      if (!Object.hasOwn(left, key)) {
        changes.set(pathKey(here), 'added');
        changed = true;
      } else if (compare(childOf(left, key), childOf(right, key), here)) changed = true;
    }
    for (var _b = 0, _c = keysOf(left); _b < _c.length; _b++) {
      var key = _c[_b];
      if (Object.hasOwn(right, key)) continue;
      changes.set(pathKey(__spreadArray(__spreadArray([], path, true), [key], false)), 'removed');
      changed = true;
    }
    return changed;
  }
  compare(before, after, []);
  return changes;
}
/** The old value of a place that {@link diffTrees} named `changed` or `removed`; follows renumbered list items. */
export function valueBefore(before, after, path) {
  var _a;
  var a = before;
  var b = after;
  for (var _i = 0, path_1 = path; _i < path_1.length; _i++) {
    var key = path_1[_i];
    if (!isBranch(a)) return undefined;
    if (Array.isArray(a) && Array.isArray(b)) {
      if (key.startsWith('-')) {
        a = a[Number(key.slice(1))];
        b = undefined;
      } else {
        a = a[(_a = pairItems(a, b)[Number(key)]) !== null && _a !== void 0 ? _a : -1];
        b = b[Number(key)];
      }
      continue;
    }
    a = childOf(a, key);
    b = isBranch(b) ? childOf(b, key) : undefined;
  }
  return a;
}
