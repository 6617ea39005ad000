import { Lru } from './lru.ts';

/** Events of one type that an object may have at once. */
const BURST = 25;
/** One more each five minutes. */
const PER_MS = 1 / 300_000;

interface Bucket {
  tokens: number;
  /** When `tokens` was right, in ms since the epoch. */
  at: number;
}

/**
 * Keeps an object that is always unwell from filling the API server with its events: a token bucket for each key
 * (client-go: EventSourceObjectSpamFilter).
 */
export class SpamFilter {
  private readonly buckets: Lru<Bucket>;

  constructor(size: number) {
    this.buckets = new Lru(size);
  }

  /** Takes a token; false when there is none and the event must go. */
  admits(key: string, at: number): boolean {
    const bucket = this.buckets.get(key) ?? { tokens: BURST, at };
    // A clock that went back gives nothing and takes nothing.
    bucket.tokens = Math.min(BURST, bucket.tokens + Math.max(0, at - bucket.at) * PER_MS);
    bucket.at = at;
    const admitted = bucket.tokens >= 1;
    if (admitted) bucket.tokens -= 1;
    this.buckets.set(key, bucket);
    return admitted;
  }
}
