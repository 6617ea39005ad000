/** A timer that was set. */
export interface Timer {
  cancel(): void;
}

/** The time in which a simulated runtime lives: the machine's, or that of whoever lets it run faster. */
export interface SimTime {
  /** Whole ms since the epoch. */
  now(): number;
  /** Calls `action` once, after so many ms; of any length. */
  after(ms: number, action: () => void): Timer;
}

/** Timers of Node hold 24 days. */
const LONGEST_MS = 2_147_483_647;

/** The machine's own time. */
export const REAL_TIME: SimTime = {
  now: () => Date.now(),
  after(ms, action) {
    let handle: NodeJS.Timeout | undefined;
    const wait = (left: number): void => {
      handle = setTimeout(
        () => {
          if (left > LONGEST_MS) wait(left - LONGEST_MS);
          else action();
        },
        Math.min(left, LONGEST_MS),
      );
    };
    wait(ms);
    return { cancel: () => clearTimeout(handle) };
  },
};
