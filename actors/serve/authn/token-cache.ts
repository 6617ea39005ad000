import { createHmac, randomBytes } from 'node:crypto';
import { ExpiringCache } from './expiring-cache.ts';
import type { AuthObserver } from './auth-observer.ts';
import type { ReviewToken } from './token-review.ts';
import type { UserInfo } from './user-info.ts';

/** Options of {@link TokenCache}. */
export interface TokenCacheOptions {
  review: ReviewToken;
  /** Reviews a second, and at once, that `review` makes (`kubeAPIQPS`, `kubeAPIBurst`); `qps` 0 or less: no limit. */
  qps: number;
  burst: number;
  /** `authentication.webhook.cacheTTL` in ms, for known and unknown tokens alike; 0 keeps nothing. */
  ttlMs: number;
  /** A clock that nobody can set, ms. */
  steady: () => number;
  observer: AuthObserver;
  /** Most answers that are kept. */
  limit?: number;
}

/** Answers that a node may well need at a time, and no more, whoever sends tokens. */
const LIMIT = 8192;
/** Longest that one look-up may take with all its tries, ms (kubelet's sharedLookupTimeout). */
const LOOKUP_MS = 30_000;

/**
 * Remembers who has which token (kubelet's cached token authenticator). Requests with the same token share one look-up;
 * failures to look up are not kept. Tokens are not kept either, only their HMAC under a key of this process.
 */
export class TokenCache {
  private readonly options: TokenCacheOptions;
  private readonly key = randomBytes(32);
  private readonly known: ExpiringCache<{ user: UserInfo | null }>;
  private readonly underWay = new Map<string, Promise<UserInfo | null>>();
  private readonly ended = new AbortController();
  private readonly most: number;

  constructor(options: TokenCacheOptions) {
    this.options = options;
    this.known = new ExpiringCache(options.limit ?? LIMIT, options.steady);
    const inTime = options.burst + (options.qps * LOOKUP_MS) / 1000;
    this.most = Math.min(LIMIT, options.qps > 0 ? inTime : Infinity);
  }

  /** Who has the token, null = nobody. Rejects when that cannot be told now. */
  async authenticate(token: string): Promise<UserInfo | null> {
    const { observer } = this.options;
    const started = performance.now();
    const done = (status: 'hit' | 'miss'): void => {
      observer.onTokenCacheRequest?.(status, (performance.now() - started) / 1000);
    };
    const key = createHmac('sha256', this.key).update(token).digest('base64');
    const found = this.known.get(key);
    if (found !== undefined) {
      done('hit');
      return found.user;
    }
    observer.onTokenCacheActive?.('blocked', 1);
    try {
      let lookup = this.underWay.get(key);
      if (lookup === undefined) {
        // Its turn would come too late, and strangers can send as many tokens as they like (client-go refuses likewise).
        if (this.underWay.size >= this.most)
          throw new Error('too many tokens are looked up: this one has no turn in time');
        lookup = this.lookUp(key, token);
        this.underWay.set(key, lookup);
      }
      return await lookup;
    } finally {
      observer.onTokenCacheActive?.('blocked', -1);
      done('miss');
    }
  }

  /** Ends look-ups under way; later ones fail. */
  stop(): void {
    this.ended.abort();
  }

  private async lookUp(key: string, token: string): Promise<UserInfo | null> {
    const { observer, review, ttlMs } = this.options;
    observer.onTokenCacheActive?.('in_flight', 1);
    let status: 'ok' | 'error' = 'error';
    const limit = new AbortController();
    const end = (): void => limit.abort();
    const timer = setTimeout(end, LOOKUP_MS);
    this.ended.signal.addEventListener('abort', end, { once: true });
    if (this.ended.signal.aborted) end();
    try {
      const user = await review(token, limit.signal);
      status = 'ok';
      this.known.set(key, { user }, ttlMs);
      return user;
    } finally {
      clearTimeout(timer);
      this.ended.signal.removeEventListener('abort', end);
      this.underWay.delete(key);
      observer.onTokenCacheFetch?.(status);
      observer.onTokenCacheActive?.('in_flight', -1);
    }
  }
}
