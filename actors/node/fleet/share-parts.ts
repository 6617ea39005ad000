/**
 * Puts parts of `known` in the place of those parts of `fresh` that say the same, so that what both hold is there once: an object of
 * the API whose status has changed shares its spec with the version before it. `fresh` must be nobody else's yet; neither is
 * changed in what it says. True when all of it is the same. Order of keys does not count.
 */
export function shareParts(fresh: unknown, known: unknown): boolean {
  if (fresh === known) return true;
  if (Array.isArray(fresh)) {
    if (!Array.isArray(known)) return false;
    let same = fresh.length === known.length;
    for (let i = 0; i < fresh.length; i++) same = shareAt(fresh, known, i) && same;
    return same;
  }
  if (!isRecord(fresh) || !isRecord(known)) return false;
  const keys = Object.keys(fresh);
  let same = keys.length === Object.keys(known).length;
  for (const key of keys) same = shareAt(fresh, known, key) && same;
  return same;
}

/** The same for what stands at one place of both. */
function shareAt<K extends string | number>(fresh: Record<K, unknown>, known: Record<K, unknown>, at: K): boolean {
  if (!Object.hasOwn(known, at)) return false;
  const same = shareParts(fresh[at], known[at]);
  // Texts, too: two that are equal are two all the same.
  if (same) fresh[at] = known[at];
  return same;
}

/** An object as JSON has it: no list, no bytes, no class. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
