/** An entry of a map by a name of somebody else's: of `constructor` every plain object has something that is no entry. */
export function entryOf<T>(entries: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return entries !== undefined && Object.hasOwn(entries, name) ? entries[name] : undefined;
}
