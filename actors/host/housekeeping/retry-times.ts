import { backOffMs } from '../../../machines/values/back-off.ts';

/** Kubelet's goroutinemap backoff: doubling to 2m2s. */
const WAITS = { firstMs: 2_000, maxMs: 122_000 };

interface Failure {
  /** In a row. */
  count: number;
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
    const count = (before?.count ?? 0) + 1;
    this.failures.set(key, { count, until: now + backOffMs(count, WAITS), text });
    return before?.text !== text;
  }

  /** Forgets all but `keys`: the others are done or gone. */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of this.failures.keys()) if (!keys.has(key)) this.failures.delete(key);
  }
}
