/** Takes fields that are `null` out of an object, in place: in the API they are absent (`creationTimestamp: null`), and so they are in its types. */
export function withoutNulls<T>(object: T): T {
  if (typeof object !== 'object' || object === null) return object;
  const fields = object as Record<string, unknown>;
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    if (value === null && !Array.isArray(object)) delete fields[key];
    else if (typeof value === 'object') withoutNulls(value);
  }
  return object;
}
