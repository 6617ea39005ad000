/** First and longest wait after a failure, ms (kubelet goroutinemap backoff: doubling to 2m2s). */
const FIRST_MS = 2_000;
const LONGEST_MS = 122_000;

interface Failure {
  waitMs: number;
  until: number;
  text: string;
}

/** When work that failed is tried again: each thing waits twice as long after each failure. Times in ms. */
export class RetryTimes {
  private readonly failures = new Map<string, Failure>();

  /** Whether it is time for `key`. */
  due(key: string, now: number): boolean {
    return (this.failures.get(key)?.until ?? 0) <= now;
  }

  /** `key` failed; tells whether the failure's text is a new one, and so worth a line in the log. */
  failed(key: string, now: number, text: string): boolean {
    const before = this.failures.get(key);
    const waitMs = before === undefined ? FIRST_MS : Math.min(before.waitMs * 2, LONGEST_MS);
    this.failures.set(key, { waitMs, until: now + waitMs, text });
    return before?.text !== text;
  }

  /** Forgets all but `keys`: the others are done or gone. */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of this.failures.keys()) if (!keys.has(key)) this.failures.delete(key);
  }
}
