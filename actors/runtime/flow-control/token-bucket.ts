/** Rate limit: `qps` tokens a second, at most `burst` saved up (client-go's flow control). */
export class TokenBucket {
  private readonly qps: number;
  private readonly burst: number;
  private readonly now: () => number;
  /** Below zero when tokens are promised that have not come yet. */
  private tokens: number;
  private last: number;

  /** `qps` above 0; `burst` at least 1. `now` is in milliseconds. */
  constructor(qps: number, burst: number, now: () => number = () => performance.now()) {
    this.qps = qps;
    this.burst = Math.max(1, burst);
    this.tokens = this.burst;
    this.now = now;
    this.last = now();
  }

  /** Takes the next token and says in how many ms it comes; later callers come after it. */
  take(): number {
    const at = this.now();
    this.tokens = Math.min(this.burst, this.tokens + ((at - this.last) / 1000) * this.qps);
    this.last = at;
    this.tokens -= 1;
    return this.tokens >= 0 ? 0 : (-this.tokens / this.qps) * 1000;
  }

  /** Takes a token if there is one now. */
  tryTake(): boolean {
    if (this.take() === 0) return true;
    this.giveBack();
    return false;
  }

  /** Gives back a token that nobody will use. */
  giveBack(): void {
    this.tokens += 1;
  }
}
