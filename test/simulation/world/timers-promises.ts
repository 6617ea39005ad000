/** `node:timers/promises` over the globals, which virtual time replaces: the loader maps that module to this one. */

/** One for all: making an error with its stack costs more than the pause itself. */
const aborted = new DOMException('The operation was aborted', 'AbortError');

/** Resolves after `ms`; rejects with an AbortError when the signal is aborted before. */
export function setTimeout<T>(ms?: number, value?: T, options: { signal?: AbortSignal } = {}): Promise<T | undefined> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(aborted);
    };
    if (signal?.aborted === true) {
      reject(aborted);
      return;
    }
    const timer = globalThis.setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve(value);
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Resolves in a later turn. */
export function setImmediate<T>(value?: T): Promise<T | undefined> {
  return new Promise((resolve) => globalThis.setImmediate(() => resolve(value)));
}
