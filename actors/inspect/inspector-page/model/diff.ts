/** What happened to one place of a tree between two steps. `inside`: nothing itself, but something below it. */
export type Change = 'added' | 'removed' | 'changed' | 'inside';

/** Changes by {@link pathKey}. Below an added or a removed place nothing is listed. */
export type Changes = ReadonlyMap<string, Change>;

/** Key of a place: its keys joined by a character that JSON keys of Kubernetes do not hold. */
export function pathKey(path: readonly string[]): string {
  return path.join('\u0000');
}

/** Objects and arrays have parts; all else is a leaf. */
export function isBranch(value: unknown): value is Record<string, unknown> | unknown[] {
  return typeof value === 'object' && value !== null;
}

function keysOf(value: Record<string, unknown> | unknown[]): string[] {
  return Object.keys(value);
}

function childOf(value: Record<string, unknown> | unknown[], key: string): unknown {
  return (value as Record<string, unknown>)[key];
}

/** Names that tell list items apart in Kubernetes objects, tried in this order. */
const IDENTITIES = ['name', 'containerID', 'type', 'key', 'uid', 'ip'];

function identify(items: readonly unknown[]): string[] | null {
  if (items.length === 0) return null;
  for (const field of IDENTITIES) {
    const ids = items.map((item) => (isBranch(item) && !Array.isArray(item) ? item[field] : undefined));
    if (ids.every((id) => typeof id === 'string') && new Set(ids).size === ids.length) return ids;
  }
  return null;
}

/**
 * Pairs the items of two lists by their name (or type, id ...), so that an item put in front does not mark all that
 * follow; by position when they have none. Gives for each item of `after` the index in `before` or -1.
 */
function pairItems(before: readonly unknown[], after: readonly unknown[]): number[] {
  const a = identify(before);
  const b = identify(after);
  if (a === null || b === null) return after.map((_, i) => (i < before.length ? i : -1));
  const at = new Map(a.map((id, i) => [id, i]));
  return b.map((id) => at.get(id) ?? -1);
}

/**
 * Changes from `before` to `after`, both plain JSON. A list item that went is told as `removed` under its old index
 * with a leading `-`, since the new list may hold another item at that index.
 */
export function diffTrees(before: unknown, after: unknown): Map<string, Change> {
  const changes = new Map<string, Change>();

  function compare(a: unknown, b: unknown, path: string[]): boolean {
    if (a === b) return false;
    if (!isBranch(a) || !isBranch(b) || Array.isArray(a) !== Array.isArray(b)) {
      changes.set(pathKey(path), 'changed');
      return true;
    }
    const changed = Array.isArray(a) && Array.isArray(b) ? compareLists(a, b, path) : compareRecords(a, b, path);
    if (changed) changes.set(pathKey(path), 'inside');
    return changed;
  }

  function compareLists(a: unknown[], b: unknown[], path: string[]): boolean {
    const pairs = pairItems(a, b);
    const kept = new Set(pairs);
    let changed = false;
    pairs.forEach((from, i) => {
      const here = [...path, String(i)];
      if (from < 0) {
        changes.set(pathKey(here), 'added');
        changed = true;
      } else if (compare(a[from], b[i], here)) changed = true;
    });
    a.forEach((_, i) => {
      if (kept.has(i)) return;
      changes.set(pathKey([...path, `-${String(i)}`]), 'removed');
      changed = true;
    });
    return changed;
  }

  function compareRecords(a: object, b: object, path: string[]): boolean {
    const left = a as Record<string, unknown>;
    const right = b as Record<string, unknown>;
    let changed = false;
    for (const key of keysOf(right)) {
      const here = [...path, key];
      if (!Object.hasOwn(left, key)) {
        changes.set(pathKey(here), 'added');
        changed = true;
      } else if (compare(childOf(left, key), childOf(right, key), here)) changed = true;
    }
    for (const key of keysOf(left)) {
      if (Object.hasOwn(right, key)) continue;
      changes.set(pathKey([...path, key]), 'removed');
      changed = true;
    }
    return changed;
  }

  compare(before, after, []);
  return changes;
}

/** The old value of a place that {@link diffTrees} named `changed` or `removed`; follows renumbered list items. */
export function valueBefore(before: unknown, after: unknown, path: readonly string[]): unknown {
  let a = before;
  let b = after;
  for (const key of path) {
    if (!isBranch(a)) return undefined;
    if (Array.isArray(a) && Array.isArray(b)) {
      if (key.startsWith('-')) {
        a = a[Number(key.slice(1))] as unknown;
        b = undefined;
      } else {
        a = a[pairItems(a, b)[Number(key)] ?? -1] as unknown;
        b = b[Number(key)] as unknown;
      }
      continue;
    }
    a = childOf(a, key);
    b = isBranch(b) ? childOf(b, key) : undefined;
  }
  return a;
}
