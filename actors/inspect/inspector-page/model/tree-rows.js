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
import { isBranch, pathKey, valueBefore } from './diff.ts';
/** A search stops here: who finds more refines it. */
export var MOST_HITS = 500;
function hintOf(value) {
  if (!isBranch(value) || Array.isArray(value)) return '';
  for (var _i = 0, _a = ['name', 'type', 'mountPath', 'key', 'ip']; _i < _a.length; _i++) {
    var key = _a[_i];
    var hint = value[key];
    if (typeof hint === 'string') return hint;
  }
  return '';
}
/** Places where the search text is, and all places above them. */
function findHits(root, search) {
  var hits = new Set();
  var above = new Set();
  var wanted = search.toLowerCase();
  function walk(value, path, label) {
    if (hits.size >= MOST_HITS) return;
    var text = isBranch(value) ? label : ''.concat(label, ' ').concat(leafText(value));
    if (path.length > 0 && text.toLowerCase().includes(wanted)) {
      hits.add(pathKey(path));
      for (var n = path.length - 1; n >= 0; n--) above.add(pathKey(path.slice(0, n)));
    }
    if (!isBranch(value)) return;
    for (var _i = 0, _a = Object.entries(value); _i < _a.length; _i++) {
      var _b = _a[_i],
        key = _b[0],
        child = _b[1];
      walk(child, __spreadArray(__spreadArray([], path, true), [key], false), key);
    }
  }
  walk(root, [], '');
  return { hits: hits, above: above };
}
/** A leaf as text, the way JSON writes it but without quotes around strings. */
export function leafText(value) {
  if (typeof value === 'string') return value;
  if (value === undefined) return 'nothing';
  return JSON.stringify(value);
}
/**
 * The rows of a tree from top to bottom. Closed by default, except the way to what changed in this step and to what
 * the search found; what was opened or closed by hand stays so.
 */
export function treeRows(input) {
  var before = input.before,
    after = input.after,
    changes = input.changes,
    toggled = input.toggled,
    onlyChanged = input.onlyChanged;
  var search = input.search.trim();
  var _a = search === '' ? { hits: new Set(), above: new Set() } : findHits(after, search),
    hits = _a.hits,
    above = _a.above;
  var rows = [];
  function add(value, path, label, change) {
    var _a;
    var id = pathKey(path);
    var branch = isBranch(value) && Object.keys(value).length > 0;
    var hit = hits.has(id);
    if (search !== '' && !hit && !above.has(id)) return;
    if (search === '' && onlyChanged && change === undefined) return;
    var open =
      branch &&
      ((_a = toggled.get(id)) !== null && _a !== void 0 ? _a : search === '' ? change === 'inside' : above.has(id));
    var was = change === 'changed' ? valueBefore(before, after, path) : undefined;
    rows.push({
      id: id,
      depth: path.length - 1,
      label: label,
      hint: hintOf(value),
      value: value,
      branch: branch,
      open: open,
      change: change,
      was: was,
      hit: hit,
    });
    if (open) addChildren(value, path, change === 'added' || change === 'removed' ? change : undefined);
  }
  function addChildren(value, path, inherited) {
    if (!isBranch(value)) return;
    for (var _i = 0, _a = Object.entries(value); _i < _a.length; _i++) {
      var _b = _a[_i],
        key = _b[0],
        child = _b[1];
      var here = __spreadArray(__spreadArray([], path, true), [key], false);
      add(child, here, key, inherited !== null && inherited !== void 0 ? inherited : changes.get(pathKey(here)));
    }
    if (inherited === undefined) addRemoved(value, path);
  }
  function addRemoved(value, path) {
    if (changes.get(pathKey(path)) !== 'inside') return;
    var old = valueBefore(before, after, path);
    if (!isBranch(old)) return;
    for (var _i = 0, _a = Object.keys(old); _i < _a.length; _i++) {
      var key = _a[_i];
      var here = __spreadArray(__spreadArray([], path, true), [Array.isArray(value) ? '-'.concat(key) : key], false);
      if (changes.get(pathKey(here)) === 'removed') add(valueBefore(before, after, here), here, key, 'removed');
    }
  }
  addChildren(after, [], undefined);
  return rows;
}
/** A branch in a few words when it is closed: `{3}`, `[12]`, `{}`. */
export function branchText(value) {
  if (Array.isArray(value)) return '['.concat(value.length === 0 ? '' : String(value.length), ']');
  var n = isBranch(value) ? Object.keys(value).length : 0;
  return '{'.concat(n === 0 ? '' : String(n), '}');
}
