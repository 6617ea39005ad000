/**
 * Would the API server store both alike? What Go leaves out when it is empty (`omitempty`), or writes as null or `{}`
 * (a zero `metav1.Time`, an empty `lastState`), counts as absent; `false` and `0` do not. Order in lists counts.
 */
export function sameStored(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, i) => sameStored(item, b[i]));
  }
  if (!isMap(a) || !isMap(b)) return false;
  return keysOf(a, b).every((key) => sameStored(a[key], b[key]));
}

/** Absent as far as the API is concerned: null, '', an empty list, or a map of nothing else. */
export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isMap(value) && Object.keys(value).every((key) => isEmpty(value[key]));
}

/** A JSON object, not a list. */
export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The keys of both, each once. */
export function keysOf(a: object, b: object): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])];
}
