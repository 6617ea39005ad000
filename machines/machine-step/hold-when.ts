/** What a guard asks, as data. */
export interface Asked {
  pick: (context: never) => unknown;
  value: unknown;
}

const ASKED = new WeakMap<object, Asked>();

/**
 * A guard that holds when what `pick` reads of the context is `value`. Of many such guards with the same `pick` in a state
 * the compiled machine finds the one that holds in a table, instead of asking one after the other.
 */
export function holdsWhen<C>(pick: (context: C) => unknown, value: unknown): (args: { context: C }) => boolean {
  const guard = ({ context }: { context: C }) => pick(context) === value;
  ASKED.set(guard, { pick, value });
  return guard;
}

/** What a guard that {@link holdsWhen} has made asks; null for others. */
export function askedBy(guard: unknown): Asked | null {
  return typeof guard === 'function' ? (ASKED.get(guard) ?? null) : null;
}
