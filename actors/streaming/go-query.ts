/** The parameters of a request, by name, each with its values in order. */
export type Query = ReadonlyMap<string, readonly string[]>;

/**
 * Reads a query as Go's `URL.Query()` does: a pair with a `;` or with a broken percent escape is left out, `+` is a
 * blank, and a name without `=` has the value ''.
 * @param url request target, e.g. `/exec/ns/pod/c?command=sh`
 */
export function queryOf(url: string): Query {
  const start = url.indexOf('?');
  const query = new Map<string, string[]>();
  if (start < 0) return query;
  for (const pair of url.slice(start + 1).split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const equals = pair.indexOf('=');
    const name = unescapePart(equals < 0 ? pair : pair.slice(0, equals));
    const value = unescapePart(equals < 0 ? '' : pair.slice(equals + 1));
    if (name === undefined || value === undefined) continue;
    const values = query.get(name);
    if (values === undefined) query.set(name, [value]);
    else values.push(value);
  }
  return query;
}

/** The first value of that name, '' when there is none (Go's `Get`, `FormValue`). */
export function firstOf(query: Query, name: string): string {
  return query.get(name)?.[0] ?? '';
}

/** Undefined for a broken escape; also for bytes that are no UTF-8, which could not be sent on over CRI. */
function unescapePart(part: string): string | undefined {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
