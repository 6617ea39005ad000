/**
 * Would the API server store both alike? What Go leaves out when it is empty (`omitempty`), or writes as null or `{}`
 * (a zero `metav1.Time`, an empty `lastState`), counts as absent; `false` and `0` do not. Order in lists counts.
 */
export function sameStored(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a === 'string' && typeof b === 'string') return false;
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!sameStored(a[i], b[i])) return false;
    return true;
  }
  if (!isMap(a) || !isMap(b)) return false;
  for (const key of Object.keys(a)) if (!sameStored(a[key], b[key])) return false;
  for (const key of Object.keys(b)) if (!Object.hasOwn(a, key) && !sameStored(a[key], b[key])) return false;
  return true;
}

/** Absent as far as the API is concerned: null, '', an empty list, or a map of nothing else. */
export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  if (!isMap(value)) return false;
  for (const key of Object.keys(value)) if (!isEmpty(value[key])) return false;
  return true;
}

/** A JSON object, not a list. */
export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The keys of both, each once. */
export function keysOf(a: object, b: object): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])];
}
