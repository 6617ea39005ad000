/** What an idle watch looks at: any socket of Node. */
export interface ByteCounts {
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

/** A longer timer of Node would fire at once. */
const LONGEST_TIMER_MS = 0x7fff_ffff;

/**
 * Calls `onIdle` once when no byte has come or gone on the client's connection for `idleMs`, at the latest a quarter
 * later. It compares counters now and then, so that a stream of many megabytes costs it nothing.
 * @param idleMs `streamingConnectionIdleTimeout`, ms; 0 means never
 * @returns ends the watch
 */
export function watchIdle(socket: ByteCounts, idleMs: number, onIdle: () => void): () => void {
  if (idleMs <= 0) return () => undefined;
  let seen = -1;
  let since = performance.now();
  const look = (): void => {
    const now = performance.now();
    const count = socket.bytesRead + socket.bytesWritten;
    if (count !== seen) {
      seen = count;
      since = now;
    } else if (now - since >= idleMs) {
      clearInterval(timer);
      onIdle();
    }
  };
  look();
  const timer = setInterval(look, Math.min(Math.max(Math.floor(idleMs / 4), 1), LONGEST_TIMER_MS));
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
