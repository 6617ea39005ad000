import type { Logger } from 'pino';
import { ClockSteps } from '../host/time/clock-steps.ts';
import { lookEach } from '../host/time/clock.ts';
import type { Clock, Timer } from '../host/time/clock.ts';

/** Time between two looks, ms. */
const PERIOD_MS = 500;

/** What the watch is made from. */
export interface ClockWatchOptions {
  log: Logger;
  clock: Clock;
  /** The clock was set back by so many ms. */
  onSetBack: (byMs: number) => void;
}

/**
 * Notices that somebody set the machine's clock. Who waits for a time of the clock is told when it goes back; that it went forward is only logged, for then what was due later is due at once.
 */
export class ClockWatch {
  private readonly options: ClockWatchOptions;
  private timer: Timer | undefined;
  private readonly steps: ClockSteps;

  constructor(options: ClockWatchOptions) {
    this.options = options;
    this.steps = new ClockSteps(options.clock);
  }

  start(): void {
    this.timer = lookEach(this.options.clock, PERIOD_MS, () => this.look());
  }

  stop(): void {
    this.timer?.cancel();
  }

  /** One look. */
  look(): void {
    const { log, onSetBack } = this.options;
    const by = this.steps.next();
    if (by === 0) return;
    log.warn({ seconds: by / 1000 }, by < 0 ? 'The clock was set back' : 'The clock was set forward');
    if (by < 0) onSetBack(-by);
  }
}
