/**
 * The two sibling states that a way leads between, after stepping out of all that is not shared, and the path of the state
 * that they stand in ('' = the machine); null for a way that stays within one of them, or of the machine itself ('').
 */
export function liftToSiblings(from: string, to: string): { level: string; from: string; to: string } | null {
  if (from === '' || to === '') return null;
  const [outer, other] = [from.split('.'), to.split('.')];
  for (let i = 0; i < Math.min(outer.length, other.length); i++) {
    if (outer[i] === other[i]) continue;
    const path = (parts: readonly string[]) => parts.slice(0, i + 1).join('.');
    return { level: outer.slice(0, i).join('.'), from: path(outer), to: path(other) };
  }
  return null;
}
