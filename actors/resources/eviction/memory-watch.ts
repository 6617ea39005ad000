import type { Clock, Timer } from '../../host/time/clock.ts';

/** A node cannot lose more than this in a second, bytes: by it the next look is early enough. */
const FASTEST = 4 * 2 ** 30;
const LEAST_MS = 100;
const MOST_MS = 1_000;
/** Between two looks that it asks for, ms: a node right above its threshold must not be looked at without end. */
const WAKE_MS = 500;

/** What the watch is made from. */
export interface MemoryWatchOptions {
  clock: Clock;
  /** Bytes that are free, or could be at once; only how it changes counts. Cheap. Null: not known. */
  read: () => number | null;
  /** So much has gone that a threshold may be met: look now. */
  wake: () => void;
}

/**
 * Looks at the node's memory between two looks of eviction, and wakes it when as much has gone since the last one as was left until
 * the nearest threshold. One small file of the kernel is read, each second while much is left, ten times a second when little is.
 */
export class MemoryWatch {
  private readonly options: MemoryWatchOptions;
  private timer: Timer | undefined;
  private wokenAt = Number.NEGATIVE_INFINITY;

  constructor(options: MemoryWatchOptions) {
    this.options = options;
  }

  /** Begins anew after a look. @param left bytes until the nearest threshold that is not met; null: there is none */
  arm(left: number | null): void {
    this.disarm();
    const before = left === null ? null : this.options.read();
    if (left === null || before === null) return;
    this.later(left, before);
  }

  disarm(): void {
    this.timer?.cancel();
  }

  private later(left: number, before: number): void {
    const { clock, read, wake } = this.options;
    const rest = left - (before - (read() ?? before));
    const early = Math.min(MOST_MS, Math.max(LEAST_MS, (rest / FASTEST) * 1_000));
    const ms = Math.max(early, rest <= 0 ? this.wokenAt + WAKE_MS - clock.steady() : 0);
    this.timer = clock.lookAfter(ms, () => {
      const now = read();
      const late = now !== null && before - now >= left;
      if (!late) this.later(left, before);
      else if (clock.steady() - this.wokenAt < WAKE_MS) this.later(left, before);
      else {
        this.wokenAt = clock.steady();
        wake();
      }
    });
  }
}
