/**
 * Loaded ahead in the main thread and each worker of an agent under test (`--import`, with `--expose-gc`): collects garbage
 * and measures what is left when it is told to, over a broadcast channel.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { writeHeapSnapshot } from 'node:v8';
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads';

/** Name of the channel. */
export const HEAP_CHANNEL = 'actorlet-heap';

/** What one thread is asked: measure, and write a snapshot to `<snapshotTo>.<thread>.heapsnapshot` when that is given. */
export interface HeapQuestion {
  ask: number;
  snapshotTo: string | null;
}

/** What of one thread is left after its garbage was collected, bytes. */
export interface ThreadHeap {
  ask: number;
  /** 0 = main. */
  thread: number;
  heapUsed: number;
  external: number;
  arrayBuffers: number;
  /** Things that keep an event loop going, by sort: timers, sockets, streams. */
  handles: Record<string, number>;
}

/** Collects this thread's garbage and measures. */
export async function measureHeap({ ask, snapshotTo }: HeapQuestion): Promise<ThreadHeap> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    // what a finalizer lets go is collected the next time
    await turn();
  }
  if (snapshotTo !== null) writeHeapSnapshot(`${snapshotTo}.${threadId}.heapsnapshot`);
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  const handles: Record<string, number> = {};
  for (const sort of process.getActiveResourcesInfo()) handles[sort] = (handles[sort] ?? 0) + 1;
  return { ask, thread: threadId, heapUsed, external, arrayBuffers, handles };
}

if (!isMainThread) {
  const channel = new BroadcastChannel(HEAP_CHANNEL);
  channel.unref();
  channel.onmessage = (event) => {
    const question = (event as { data: HeapQuestion | ThreadHeap }).data;
    if ('thread' in question) return;
    void measureHeap(question).then((heap) => channel.postMessage(heap));
  };
}
