/** Lines on their way to the one who reads them, in order. */
export class LineQueue<T> {
  private lines: T[] = [];
  private wake: (() => void) | undefined;
  private over = false;

  put(line: T): void {
    if (this.over) return;
    this.lines.push(line);
    this.wake?.();
  }

  /** No more lines come; what is there is read to its end. */
  end(): void {
    this.over = true;
    this.wake?.();
  }

  /** The lines as they come, until the end; `done` is called when nobody reads any more. */
  async *read(done: () => void): AsyncGenerator<T, void, undefined> {
    try {
      for (;;) {
        const lines = this.lines;
        if (lines.length > 0) {
          this.lines = [];
          yield* lines;
        } else if (this.over) return;
        else await new Promise<void>((resolve) => (this.wake = resolve));
      }
    } finally {
      done();
    }
  }
}
