/** A signal that the caller's signal or the clock ends. */
export class TimeLimit {
  over = false;
  private readonly controller = new AbortController();
  private readonly outer: AbortSignal | undefined;
  private readonly timer: NodeJS.Timeout;

  constructor(ms: number, outer: AbortSignal | undefined) {
    this.outer = outer;
    this.timer = setTimeout(() => {
      this.over = true;
      this.controller.abort();
    }, ms);
    outer?.addEventListener('abort', this.forward, { once: true });
    if (outer?.aborted) this.forward();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
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
