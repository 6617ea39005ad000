import fc from 'fast-check';
import { nasty, TRAPS } from './nasty.ts';

/** One change of a JSON tree. `at` chooses the node among all of them. */
export interface JsonChange {
  at: number;
  do: 'replace' | 'remove' | 'double' | 'rename' | 'add' | 'swap';
  value: unknown;
  key: string;
  other: number;
}

/** A few changes, most often one or two. */
export const jsonChanges: fc.Arbitrary<JsonChange[]> = fc.array(
  fc.record({
    at: fc.nat(100_000),
    do: fc.constantFrom('replace', 'replace', 'replace', 'remove', 'double', 'rename', 'add', 'swap'),
    value: nasty,
    key: fc.constantFrom(...TRAPS, 'name', 'metadata', 'spec', 'items', 'kind', 'unknown'),
    other: fc.nat(100_000),
  }),
  { minLength: 1, maxLength: 4 },
);

interface Place {
  parent: Record<string, unknown> | unknown[];
  key: string;
}

/** A deep copy of plain JSON with the changes made, one after the other. Never shares an object with the original. */
export function changed<T>(original: T, changes: readonly JsonChange[]): unknown {
  const root: { value: unknown } = { value: structuredClone(original) };
  for (const change of changes) {
    const places: Place[] = [];
    collect(root as unknown as Record<string, unknown>, places);
    const place = places[change.at % places.length];
    const other = places[change.other % places.length];
    if (place !== undefined) apply(place, change, other);
  }
  return root.value;
}

function collect(parent: Record<string, unknown> | unknown[], into: Place[]): void {
  for (const [key, value] of Object.entries(parent)) {
    into.push({ parent, key });
    if (typeof value === 'object' && value !== null) collect(value as Record<string, unknown>, into);
  }
}

function apply({ parent, key }: Place, change: JsonChange, other: Place | undefined): void {
  const all = parent as Record<string, unknown>;
  const value = all[key];
  const isRoot = key === 'value' && Object.keys(all).length === 1;
  switch (change.do) {
    case 'replace':
      set(all, key, structuredClone(change.value));
      return;
    case 'remove':
      if (isRoot) return;
      if (Array.isArray(parent)) parent.splice(Number(key), 1);
      else delete all[key];
      return;
    case 'double':
      if (Array.isArray(parent)) parent.splice(Number(key), 0, structuredClone(value));
      else set(all, key, [value, structuredClone(value)]);
      return;
    case 'rename':
      if (isRoot || Array.isArray(parent)) return;
      delete all[key];
      set(all, change.key, value);
      return;
    case 'add':
      if (Array.isArray(value)) value.push(structuredClone(change.value));
      else if (typeof value === 'object' && value !== null)
        set(value as Record<string, unknown>, change.key, structuredClone(change.value));
      return;
    case 'swap':
      if (other !== undefined) set(all, key, structuredClone((other.parent as Record<string, unknown>)[other.key]));
      return;
  }
}

/** As JSON.parse sets it: `__proto__` becomes a field like any other. */
function set(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}
