import { HostFailure } from './host-failure.ts';

/** A piece of work on one pod's folder and mounts, see {@link podWork}. */
export interface PodWork {
  /** Aborted when the pod's last work begins. */
  readonly signal: AbortSignal;
  /** Waits for what does not touch the pod's folder; rejects at once when the pod's last work begins. */
  waitFor<T>(promise: Promise<T>): Promise<T>;
  /** Does what touches the pod's folder, alone. Rejects without doing it when the pod's last work has begun. */
  alone<T>(act: () => Promise<T>): Promise<T>;
}

interface Pending {
  /** The end of all work on the folder that was asked for so far; never rejects. */
  tail: Promise<unknown>;
  stops: Set<AbortController>;
}

const pods = new Map<string, Pending>();

/**
 * Runs work on a pod's folder. Of all work in this worker process on one folder, what is done `alone` never overlaps,
 * so a mount cannot appear behind the back of a tear-down.
 */
export async function podWork<T>(dir: string, work: (turn: PodWork) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const pending = pendingOf(dir);
  pending.stops.add(stop);
  try {
    return await work({
      signal: stop.signal,
      waitFor: (promise) => orStopped(promise, stop.signal),
      alone: (act) =>
        inTurn(pending, () => {
          stop.signal.throwIfAborted();
          return act();
        }),
    });
  } finally {
    pending.stops.delete(stop);
    forget(dir, pending);
  }
}

/** Tells all work on the folder to stop, waits until none is in the middle of a step, and then acts alone. */
export async function lastPodWork<T>(dir: string, act: () => Promise<T>): Promise<T> {
  const pending = pendingOf(dir);
  const reason = new HostFailure('Canceled', 'the pod is being torn down');
  for (const stop of pending.stops) stop.abort(reason);
  const own = new AbortController();
  pending.stops.add(own);
  try {
    return await inTurn(pending, act);
  } finally {
    pending.stops.delete(own);
    forget(dir, pending);
  }
}

function pendingOf(dir: string): Pending {
  let pending = pods.get(dir);
  if (pending === undefined) {
    pending = { tail: Promise.resolve(), stops: new Set() };
    pods.set(dir, pending);
  }
  return pending;
}

function forget(dir: string, pending: Pending): void {
  if (pending.stops.size === 0 && pods.get(dir) === pending) pods.delete(dir);
}

function inTurn<T>(pending: Pending, act: () => Promise<T>): Promise<T> {
  const turn = pending.tail.then(act);
  pending.tail = turn.catch(() => undefined);
  return turn;
}

function orStopped<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
