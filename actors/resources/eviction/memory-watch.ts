import type { NodeAndPods } from '../../../machines/eviction/soundings.ts';
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
  /** Bytes that are free, or could be at once; only how they change counts. Cheap. */
  read: () => NodeAndPods;
  /** So much has gone that a threshold may be met: look now. */
  wake: () => void;
}

/**
 * Looks at the node's memory between two looks of eviction, and wakes it when as much has gone since the last one as was left until
 * the nearest threshold. Some small files of the kernel are read, each second while much is left, ten times a second when little is. What pods may have
 * is looked at for itself: what the machine's other processes give back meanwhile hides nothing.
 */
export class MemoryWatch {
  private readonly options: MemoryWatchOptions;
  private timer: Timer | undefined;
  private wokenAt = Number.NEGATIVE_INFINITY;

  constructor(options: MemoryWatchOptions) {
    this.options = options;
  }

  /** Begins anew after a look. @param left bytes until the nearest threshold that is not met */
  arm(left: NodeAndPods): void {
    this.disarm();
    const before = this.options.read();
    const marks = (['node', 'pods'] as const).flatMap((of) => {
      const [bytes, now] = [left[of], before[of]];
      // So low it may fall.
      return bytes === null || now === null ? [] : [{ of, low: now - bytes }];
    });
    if (marks.length > 0) this.later(marks, restOf(marks, before));
  }

  disarm(): void {
    this.timer?.cancel();
  }

  /** @param rest bytes until the first of them */
  private later(marks: readonly Mark[], rest: number): void {
    const { clock, read, wake } = this.options;
    const early = Math.min(MOST_MS, Math.max(LEAST_MS, (rest / FASTEST) * 1_000));
    const ms = Math.max(early, rest <= 0 ? this.wokenAt + WAKE_MS - clock.steady() : 0);
    this.timer = clock.lookAfter(ms, () => {
      const now = restOf(marks, read());
      if (now > 0 || clock.steady() - this.wokenAt < WAKE_MS) this.later(marks, now);
      else {
        this.wokenAt = clock.steady();
        wake();
      }
    });
  }
}

/** Bytes until the first of them. */
function restOf(marks: readonly Mark[], now: NodeAndPods): number {
  return Math.min(...marks.map(({ of, low }) => (now[of] ?? Infinity) - low));
}

/** How low one of the two may fall before it is looked at. */
interface Mark {
  readonly of: keyof NodeAndPods;
  readonly low: number;
}
