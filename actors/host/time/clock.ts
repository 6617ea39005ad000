/** The machine's clocks, and timers for those who look again and again. A simulation puts its own in their place. */
export interface Clock {
  /** Wall clock, ms since the epoch; may be set by anybody. */
  readonly now: () => number;
  /** A clock that nobody can set, ms since some moment. */
  readonly steady: () => number;
  /** As `steady`, but without the time in which looks were left out ({@link lookAfter}): how old is what a look saw? */
  readonly looking: () => number;
  /**
   * Calls `look` once, after so many ms. For looks that come regularly and find nothing new when nothing has happened: a
   * simulation may leave those out of which nothing can come. Not for a look that is the only way to learn something.
   */
  readonly lookAfter: (ms: number, look: () => void) => Timer;
}

/** A timer that was set. */
export interface Timer {
  cancel(): void;
}

/** The clocks of this machine. Its timers keep no process alive. */
export const machineClock: Clock = {
  now: () => Date.now(),
  steady: () => performance.now(),
  looking: () => performance.now(),
  lookAfter: (ms, look) => {
    const timer = setTimeout(look, ms).unref();
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Calls `look` each `ms`, as {@link Clock.lookAfter} does; a slow look delays the next. */
export function lookEach(clock: Clock, ms: number, look: () => void): Timer {
  let timer = clock.lookAfter(ms, again);
  function again(): void {
    timer = clock.lookAfter(ms, again);
    look();
  }
  return { cancel: () => timer.cancel() };
}
