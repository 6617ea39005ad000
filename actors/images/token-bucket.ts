/** Rate limit: `qps` tokens a second, at most `burst` saved up (client-go's flow control). */
export class TokenBucket {
  private readonly qps: number;
  private readonly burst: number;
  private tokens: number;
  private last: number;
  private readonly now: () => number;

  constructor(qps: number, burst: number, now: () => number = () => performance.now()) {
    this.qps = qps;
    this.burst = Math.max(1, burst);
    this.tokens = this.burst;
    this.now = now;
    this.last = now();
  }

  /** Takes a token if there is one. */
  take(): boolean {
    const at = this.now();
    this.tokens = Math.min(this.burst, this.tokens + ((at - this.last) / 1000) * this.qps);
    this.last = at;
    if (this.tokens < 1) return false;
    this.tokens -= 1;
    return true;
  }
}
