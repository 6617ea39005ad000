import type { PullPlace } from '../protocol/pull-place.ts';
import { askForPull, emptyPullQueue, leavePull, letGo, placeInQueue, pullHasEnded } from './pull-queue.ts';
import type { Pull, PullOrder, PullQueue, PullWish } from './pull-queue.ts';

/** The memory of the queue of pulls; plain JSON. */
export interface PullState {
  queue: PullQueue;
  /** Who was told that he has to wait, and not yet that his pull begins. */
  told: readonly string[];
}

/** What reaches the queue of pulls. `at`: ms since the epoch. */
export type PullMessage =
  | ({ type: 'pull.ask'; at: number } & PullWish)
  /** Somebody waits no more. */
  | { type: 'pull.leave'; at: number; asker: string }
  /** A pull was held long enough. */
  | { type: 'pull.letGo'; at: number; id: number }
  /** A pull has come to its end, well or not. */
  | { type: 'pull.ended'; at: number; id: number };

/** What the queue of pulls has its host do, in this order. */
export type PullQueueOrder =
  | { type: 'pull.begin'; pull: Pull }
  /** Nobody waits for it any more. */
  | { type: 'pull.end'; id: number }
  /** Send `pull.letGo` in a moment. */
  | { type: 'pull.hold'; id: number }
  /** Tell where he stands, or (null) that his pull begins. */
  | { type: 'turn.tell'; asker: string; place: PullPlace | null }
  /** Tell what the pull came to. */
  | { type: 'pull.answer'; id: number; askers: readonly string[] };

/** A queue in which nothing is. @param limit pulls at once, at most; null = no bound */
export function noPulls(limit: number | null): PullState {
  return { queue: emptyPullQueue(limit), told: [] };
}

/** One step of the queue of pulls. */
export function stepPulls(state: PullState, message: PullMessage): { state: PullState; outputs: PullQueueOrder[] } {
  switch (message.type) {
    case 'pull.ask': {
      const { queue, orders } = askForPull(state.queue, message);
      return turnOf({ queue, told: state.told }, [message.asker], orders);
    }
    case 'pull.leave': {
      const { queue, orders } = leavePull(state.queue, message.asker);
      return turnOf({ queue, told: state.told.filter((asker) => asker !== message.asker) }, [], orders);
    }
    case 'pull.letGo': {
      const { queue, orders, askers } = letGo(state.queue, message.id);
      return turnOf({ queue, told: state.told }, askers, orders);
    }
    case 'pull.ended': {
      const { queue, orders, askers } = pullHasEnded(state.queue, message.id);
      const turn = turnOf({ queue, told: state.told }, [], orders);
      if (askers.length > 0) turn.outputs.unshift({ type: 'pull.answer', id: message.id, askers });
      return turn;
    }
  }
}

/** The queue's state as a dotted path. */
export function pullsState({ queue: { underWay, waiting } }: PullState): string {
  if (waiting.length > 0) return 'queued';
  return underWay.length > 0 ? 'pulling' : 'idle';
}

/** @param news who may have got a place in the queue now */
function turnOf(
  { queue, told }: PullState,
  news: readonly string[],
  orders: readonly PullOrder[],
): { state: PullState; outputs: PullQueueOrder[] } {
  const outputs: PullQueueOrder[] = [];
  let waits = told;
  for (const asker of news) {
    const place = placeInQueue(queue, asker);
    if (place === null) continue;
    outputs.push({ type: 'turn.tell', asker, place });
    if (!waits.includes(asker)) waits = [...waits, asker];
  }
  for (const { do: what, pull } of orders) {
    if (what !== 'begin') {
      outputs.push({ type: what === 'end' ? 'pull.end' : 'pull.hold', id: pull.id });
      continue;
    }
    for (const asker of pull.askers) if (waits.includes(asker)) outputs.push({ type: 'turn.tell', asker, place: null });
    waits = waits.filter((asker) => !pull.askers.includes(asker));
    outputs.push({ type: 'pull.begin', pull });
  }
  return { state: { queue, told: waits }, outputs };
}
