import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ParsedDocument } from './parse-documents.ts';

/** Longest that YAML may take to parse, in ms, and what its thread may hold, in MiB. */
const MAX_MS = 60_000;
const MAX_HEAP_MIB = 1024;

/**
 * `parseDocuments` in a thread that ends with it, for large YAML: the node goes on meanwhile, and text that takes too
 * long or too much memory becomes the problem of the whole text. Rejects only when `signal` aborts.
 */
export async function parseApart(text: string, signal?: AbortSignal, maxMs = MAX_MS): Promise<ParsedDocument[]> {
  signal?.throwIfAborted();
  // The entry has the ending of this file: .ts in a checkout, .js in a package.
  const entry = new URL(`./parse-worker${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(entry, { workerData: text, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB } });
  const { promise, resolve, reject } = Promise.withResolvers<ParsedDocument[]>();
  const failed = (problem: string): void => resolve([{ number: 1, problem }]);
  const late = setTimeout(() => failed(`it takes longer than ${maxMs / 1000} s to read; write it as JSON`), maxMs);
  const abort = (): void => reject(signal?.reason as Error);
  signal?.addEventListener('abort', abort, { once: true });
  worker.once('message', resolve);
  worker.once('error', (error: Error) => failed(error.message));
  worker.once('exit', () => failed('its reader ended'));
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    signal?.removeEventListener('abort', abort);
    await worker.terminate();
  }
}
