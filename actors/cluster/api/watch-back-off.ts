import { backOffMs, spread } from '../../../machines/values/back-off.ts';
import type { BackOffRange } from '../../../machines/values/back-off.ts';
import type { ApiStatusError } from './api-client.ts';

/** What failed decides how long to wait. */
export type FailureKind = 'general' | 'forbidden' | 'unreachable';

/** Waits after failures of one kind. */
export interface WatchRange extends BackOffRange {
  /** They are spread by this share to both sides; half when it is not given. */
  readonly share?: number;
}

/**
 * `general` is client-go's reflector. `forbidden` starts low, as the Node authorizer's graph lags the binding of a pod
 * by some ms. `unreachable` stays low, so that an API server that returns is heard within seconds.
 */
const reflectorBackOff: Readonly<Record<FailureKind, WatchRange>> = {
  general: { firstMs: 800, maxMs: 30_000 },
  forbidden: { firstMs: 50, maxMs: 30_000 },
  unreachable: { firstMs: 200, maxMs: 5_000 },
};

/** The kind of a failure; undefined stands for a watch that ended at once. */
function failureKind(error: ApiStatusError | undefined): FailureKind {
  if (error?.status === 403) return 'forbidden';
  return error?.status === 0 ? 'unreachable' : 'general';
}

/** Waits of a watch: they double with each failure of a kind, spread to both sides so that nodes do not come in step. */
export class WatchBackOff {
  private readonly ranges: Readonly<Record<FailureKind, WatchRange>>;
  private readonly random: () => number;
  private readonly failures: Record<FailureKind, number> = { general: 0, forbidden: 0, unreachable: 0 };

  constructor(
    ranges: Readonly<Record<FailureKind, WatchRange>> = reflectorBackOff,
    random: () => number = Math.random,
  ) {
    this.ranges = ranges;
    this.random = random;
  }

  /** Counts a failure and says how long to wait in ms, at least what the server asked for. */
  next(error: ApiStatusError | undefined): number {
    const kind = failureKind(error);
    const range = this.ranges[kind];
    const wait = Math.min(
      range.maxMs,
      spread(backOffMs(++this.failures[kind], range), range.share ?? 0.5, this.random()),
    );
    return Math.max(wait, (error?.retryAfterSeconds ?? 0) * 1000);
  }

  /** All is well again. */
  reset(): void {
    for (const kind of Object.keys(this.failures) as FailureKind[]) this.failures[kind] = 0;
  }
}
