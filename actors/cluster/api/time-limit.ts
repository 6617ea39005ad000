/** A signal that the caller's signal or the clock ends. */
export class TimeLimit {
  over = false;
  private readonly controller = new AbortController();
  private readonly outer: AbortSignal | undefined;
  private readonly ms: number;
  private timer: NodeJS.Timeout | undefined;

  constructor(ms: number, outer: AbortSignal | undefined) {
    this.ms = ms;
    this.outer = outer;
    this.startClock();
    outer?.addEventListener('abort', this.forward, { once: true });
    if (outer?.aborted) this.forward();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** The time counts from now on. */
  startClock(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.over = true;
      this.controller.abort();
    }, this.ms);
  }

  stopClock(): void {
    clearTimeout(this.timer);
  }

  release(): void {
    clearTimeout(this.timer);
    this.outer?.removeEventListener('abort', this.forward);
  }

  private readonly forward = (): void => {
    this.controller.abort();
  };
}
