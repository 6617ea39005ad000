import type { Change, Changes } from './diff.ts';
import { isBranch, pathKey, valueBefore } from './diff.ts';

/** One visible row of a tree. */
export interface TreeRow {
  /** {@link pathKey} of its place; unique among the rows. */
  id: string;
  depth: number;
  /** Key in its parent; for a list item its index. */
  label: string;
  /** Name of a list item (`name` or `type`), shown behind its index; '' for others. */
  hint: string;
  value: unknown;
  branch: boolean;
  open: boolean;
  change: Change | undefined;
  /** Old value of a changed leaf. */
  was: unknown;
  /** Found by the search. */
  hit: boolean;
}

/** What decides which rows there are. */
export interface TreeInput {
  before: unknown;
  after: unknown;
  changes: Changes;
  /** Places that were opened or closed by hand, by {@link pathKey}. */
  toggled: ReadonlyMap<string, boolean>;
  /** Text in keys and values; '' searches nothing. */
  search: string;
  /** Show only places that changed. */
  onlyChanged: boolean;
}

/** A search stops here: who finds more refines it. */
export const MOST_HITS = 500;

function hintOf(value: unknown): string {
  if (!isBranch(value) || Array.isArray(value)) return '';
  for (const key of ['name', 'type', 'mountPath', 'key', 'ip']) {
    const hint = value[key];
    if (typeof hint === 'string') return hint;
  }
  return '';
}

/** Places where the search text is, and all places above them. */
function findHits(root: unknown, search: string): { hits: Set<string>; above: Set<string> } {
  const hits = new Set<string>();
  const above = new Set<string>();
  const wanted = search.toLowerCase();
  function walk(value: unknown, path: string[], label: string): void {
    if (hits.size >= MOST_HITS) return;
    const text = isBranch(value) ? label : `${label} ${leafText(value)}`;
    if (path.length > 0 && text.toLowerCase().includes(wanted)) {
      hits.add(pathKey(path));
      for (let n = path.length - 1; n >= 0; n--) above.add(pathKey(path.slice(0, n)));
    }
    if (!isBranch(value)) return;
    for (const [key, child] of Object.entries(value)) walk(child, [...path, key], key);
  }
  walk(root, [], '');
  return { hits, above };
}

/** A leaf as text, the way JSON writes it but without quotes around strings. */
export function leafText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined) return 'nothing';
  return JSON.stringify(value);
}

/**
 * The rows of a tree from top to bottom. Closed by default, except the way to what changed in this step and to what
 * the search found; what was opened or closed by hand stays so.
 */
export function treeRows(input: TreeInput): TreeRow[] {
  const { before, after, changes, toggled, onlyChanged } = input;
  const search = input.search.trim();
  const { hits, above } =
    search === '' ? { hits: new Set<string>(), above: new Set<string>() } : findHits(after, search);
  const rows: TreeRow[] = [];

  function add(value: unknown, path: string[], label: string, change: Change | undefined): void {
    const id = pathKey(path);
    const branch = isBranch(value) && Object.keys(value).length > 0;
    const hit = hits.has(id);
    if (search !== '' && !hit && !above.has(id)) return;
    if (search === '' && onlyChanged && change === undefined) return;
    const open = branch && (toggled.get(id) ?? (search === '' ? change === 'inside' : above.has(id)));
    const was = change === 'changed' ? valueBefore(before, after, path) : undefined;
    rows.push({ id, depth: path.length - 1, label, hint: hintOf(value), value, branch, open, change, was, hit });
    if (open) addChildren(value, path, change === 'added' || change === 'removed' ? change : undefined);
  }

  function addChildren(value: unknown, path: string[], inherited: Change | undefined): void {
    if (!isBranch(value)) return;
    for (const [key, child] of Object.entries(value)) {
      const here = [...path, key];
      add(child, here, key, inherited ?? changes.get(pathKey(here)));
    }
    if (inherited === undefined) addRemoved(value, path);
  }

  function addRemoved(value: object, path: string[]): void {
    if (changes.get(pathKey(path)) !== 'inside') return;
    const old = valueBefore(before, after, path);
    if (!isBranch(old)) return;
    for (const key of Object.keys(old)) {
      const here = [...path, Array.isArray(value) ? `-${key}` : key];
      if (changes.get(pathKey(here)) === 'removed') add(valueBefore(before, after, here), here, key, 'removed');
    }
  }

  addChildren(after, [], undefined);
  return rows;
}

/** A branch in a few words when it is closed: `{3}`, `[12]`, `{}`. */
export function branchText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.length === 0 ? '' : String(value.length)}]`;
  const n = isBranch(value) ? Object.keys(value).length : 0;
  return `{${n === 0 ? '' : String(n)}}`;
}
