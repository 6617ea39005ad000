/** Growing pauses between tries: first 200 ms, doubling to 7 s (kubelet's for registration and lease). */
export class BackOff {
  private step = 100;

  /** The next pause, ms. */
  next(): number {
    this.step = Math.min(this.step * 2, 7_000);
    return this.step;
  }

  reset(): void {
    this.step = 100;
  }
}

/** What a log line says of a failed try: no stack, since the server being away is nobody's mistake. */
export function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
