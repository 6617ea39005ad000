import type { ServerResponse } from 'node:http';

/** Writes a body of unknown length piece by piece, with back-pressure, and knows when the client has gone. */
export class BodyWriter {
  readonly #response: ServerResponse;
  readonly #listeners = new Set<() => void>();
  /** True when nobody reads any more. */
  closed = false;

  constructor(response: ServerResponse) {
    this.#response = response;
    if (response.destroyed || response.socket?.destroyed === true) this.closed = true;
    const close = (): void => {
      this.closed = true;
      for (const listener of [...this.#listeners]) listener();
    };
    // An error is followed by `close`; without a listener it would end the process.
    response.on('error', () => {});
    response.once('close', close);
  }

  /** Calls `listener` when the client goes; returns what forgets it. */
  onClose(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.closed) listener();
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the bytes are on their way, so that their buffer can be used again, or the client has gone. */
  async write(bytes: Buffer): Promise<void> {
    if (this.closed || bytes.length === 0) return;
    await new Promise<void>((resolve) => {
      const forget = this.onClose(resolve);
      if (this.closed) return;
      this.#response.write(bytes, () => {
        forget();
        resolve();
      });
    });
  }
}
