import type { Duplex } from 'node:stream';
import { Socket } from 'node:net';

/** When a stream is to end. */
export interface StreamSignals {
  /** Aborts when the client's connection closes, and with `stop`. */
  readonly signal: AbortSignal;
  /**
   * Aborts when the stream has been idle for too long and when all streams are stopped. For what sees by itself that the
   * client is gone, and has then bytes of it to deliver.
   */
  readonly stop: AbortSignal;
}

/** The streams that are open, so that they can be counted and ended. */
export class OpenStreams {
  readonly #open = new Map<AbortController, Promise<void>>();
  readonly #idleMs: number;
  #stopped = false;

  /** @param idleMs `streamingConnectionIdleTimeout`, ms; 0 means that no stream is too quiet */
  constructor(idleMs: number) {
    this.#idleMs = idleMs;
  }

  /** How many streams are open. */
  get size(): number {
    return this.#open.size;
  }

  /** Carries out one stream. */
  run(client: Duplex, body: (signals: StreamSignals) => Promise<void>): Promise<void> {
    return this.#run(client, this.#idleMs, body);
  }

  /** The same for something that may be silent, such as a command of `/run`. */
  runQuiet(client: Duplex, body: (signals: StreamSignals) => Promise<void>): Promise<void> {
    return this.#run(client, 0, body);
  }

  async #run(client: Duplex, idleMs: number, body: (signals: StreamSignals) => Promise<void>): Promise<void> {
    const [gone, stop] = [new AbortController(), new AbortController()];
    const onClose = (): void => {
      gone.abort();
    };
    const onIdle = (): void => {
      stop.abort();
    };
    if (this.#stopped) stop.abort();
    if (client.destroyed) gone.abort();
    client.once('close', onClose);
    const endWatch = client instanceof Socket ? watchIdle(client, idleMs, onIdle) : () => undefined;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#open.set(stop, promise);
    try {
      await body({ signal: AbortSignal.any([gone.signal, stop.signal]), stop: stop.signal });
    } finally {
      endWatch();
      client.removeListener('close', onClose);
      this.#open.delete(stop);
      resolve(undefined);
    }
  }

  /** Ends all streams, now and those that come later, and waits until they are gone. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const gone = [...this.#open.values()];
    for (const controller of this.#open.keys()) controller.abort();
    await Promise.all(gone);
  }
}

/** What an idle watch looks at: any socket of Node. */
interface ByteCounts {
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
function watchIdle(socket: ByteCounts, idleMs: number, onIdle: () => void): () => void {
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
