/** What a {@link spanClock} is made from. */
interface Clocks {
  /** Wall clock, ms since the epoch. */
  now: () => number;
  /** A clock that nobody can set, ms. */
  steady: () => number;
}

/**
 * Times for messages of machines that measure spans by them: ms since the epoch as the wall clock had it when this was made, and
 * what went by since. Nobody can set it, so what waits is neither cut short nor held up when somebody sets the wall clock.
 */
export function spanClock({ now, steady }: Clocks): () => number {
  const ahead = now() - steady();
  return () => ahead + steady();
}
