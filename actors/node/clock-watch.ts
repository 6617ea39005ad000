import type { Logger } from 'pino';
import { lookEach } from '../host/time/clock.ts';
import type { Clock, Timer } from '../host/time/clock.ts';

/** Time between two looks, ms. */
const PERIOD_MS = 500;
/** Less is what a time service slews or steps day by day, and harms nobody, ms. */
const STEP_MS = 2_000;

/** What the watch is made from. */
export interface ClockWatchOptions {
  log: Logger;
  clock: Clock;
  /** The clock was set back by so many ms. */
  onSetBack: (byMs: number) => void;
}

/**
 * Notices that somebody set the machine's clock, by comparing it with one that nobody can set. Who waits for a time of the
 * clock is told when it goes back; that it went forward is only logged, for then what was due later is due at once.
 */
export class ClockWatch {
  private readonly options: ClockWatchOptions;
  private timer: Timer | undefined;
  private offset: number;

  constructor(options: ClockWatchOptions) {
    this.options = options;
    this.offset = options.clock.now() - options.clock.steady();
  }

  start(): void {
    this.timer = lookEach(this.options.clock, PERIOD_MS, () => this.look());
  }

  stop(): void {
    this.timer?.cancel();
  }

  /** One look. */
  look(): void {
    const { log, clock, onSetBack } = this.options;
    const offset = clock.now() - clock.steady();
    const by = Math.round(offset - this.offset);
    // Small steps are kept in mind, so that many of them are noticed, too.
    if (Math.abs(by) < STEP_MS) return;
    this.offset = offset;
    log.warn({ seconds: by / 1000 }, by < 0 ? 'The clock was set back' : 'The clock was set forward');
    if (by < 0) onSetBack(-by);
  }
}
