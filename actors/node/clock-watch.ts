import type { Logger } from 'pino';

/** Time between two looks, ms. */
const PERIOD_MS = 500;
/** Less is what a time service slews or steps day by day, and harms nobody, ms. */
const STEP_MS = 2_000;

/** What the watch is made from. */
export interface ClockWatchOptions {
  log: Logger;
  /** The machine's clock, ms since the epoch. */
  now: () => number;
  /** A clock that nobody can set, ms. */
  steady: () => number;
  /** The clock was set back by so many ms. */
  onSetBack: (byMs: number) => void;
}

/**
 * Notices that somebody set the machine's clock, by comparing it with one that nobody can set. Who waits for a time of the
 * clock is told when it goes back; that it went forward is only logged, for then what was due later is due at once.
 */
export class ClockWatch {
  private readonly options: ClockWatchOptions;
  private readonly timer: NodeJS.Timeout;
  private offset: number;

  constructor(options: ClockWatchOptions) {
    this.options = options;
    this.offset = options.now() - options.steady();
    this.timer = setInterval(() => this.look(), PERIOD_MS);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** One look. */
  look(): void {
    const { log, now, steady, onSetBack } = this.options;
    const offset = now() - steady();
    const by = Math.round(offset - this.offset);
    // Small steps are kept in mind, so that many of them are noticed, too.
    if (Math.abs(by) < STEP_MS) return;
    this.offset = offset;
    log.warn({ seconds: by / 1000 }, by < 0 ? 'The clock was set back' : 'The clock was set forward');
    if (by < 0) onSetBack(-by);
  }
}
