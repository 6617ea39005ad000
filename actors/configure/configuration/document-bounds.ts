/** Levels of lists and objects in a document, at most; a pod has some 15. What walks a pod calls itself for each. */
const MAX_DEPTH = 100;
/** What a document may come to once its aliases are followed, in characters and values: as much as a manifest may hold. */
const MAX_SIZE = 10 * 1024 * 1024;

/** Completes "cannot parse ...: " for a document whose nesting no parser or reader could follow. */
export const TOO_DEEP = `it is nested deeper than ${MAX_DEPTH} levels`;

/** Why a parsed document cannot be worked with: its levels, or what aliases make of a few bytes; undefined when it can. */
export function outOfBounds(document: unknown): string | undefined {
  const left: [value: unknown, depth: number][] = [[document, 0]];
  let size = 0;
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [value, depth] = next;
    size += typeof value === 'string' ? value.length : 1;
    if (size > MAX_SIZE) return `with all its aliases it is larger than ${MAX_SIZE} bytes`;
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= MAX_DEPTH) return TOO_DEEP;
    const inner: unknown[] = Array.isArray(value) ? value : Object.values(value);
    for (const each of inner) left.push([each, depth + 1]);
  }
  return undefined;
}

/** Has any object in it a field called `__proto__`, which a plain object cannot be given? Call it on what is in bounds. */
export function namesPrototype(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(namesPrototype);
}
