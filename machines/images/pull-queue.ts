import type { PullPlace } from '../protocol/pull-place.ts';

/**
 * The node's queue of image pulls (`serializeImagePulls`, `maxParallelImagePulls`). Who asks for the same image with the same
 * right shares one pull: kubelet pulls once for each container, and sixty pods of one absent image wait sixty times. Plain
 * data and pure functions; actors/runtime/images/shared-pulls.ts carries the orders out.
 */
export interface PullQueue {
  /** Pulls at once, at most; null = no bound. */
  limit: number | null;
  /** In the order in which they began. */
  underWay: readonly Pull[];
  /** In the order in which they were first asked for. */
  waiting: readonly Pull[];
  /** Pulls so far: makes ids. */
  made: number;
}

/** One pull, and all who wait for it. */
export interface Pull {
  id: number;
  /** What the pull is made with: image, runtime handler and credentials; only who would pull the same may share it. */
  right: string;
  image: string;
  /** In the order in which they asked. Empty: all have left, and the pull is being ended. */
  askers: readonly string[];
  /** It does not begin before {@link letGo}, so that others who are about to ask can join. */
  held: boolean;
}

/** Somebody asks for an image. */
export interface PullWish {
  /** Unique, and never used again. */
  asker: string;
  right: string;
  image: string;
  /** Only a pull that begins after now will do (`imagePullPolicy: Always`). */
  fresh: boolean;
  /** A new pull is held for a moment: the last one of this right failed, and all who were told so ask again at this time. */
  retry: boolean;
}

/** What is to be done now: begin a pull, end one that nobody waits for any more, or let one go in a moment. */
export interface PullOrder {
  do: 'begin' | 'end' | 'hold';
  pull: Pull;
}

/** The queue after an event, and what follows from it. */
export interface PullTurn {
  queue: PullQueue;
  orders: PullOrder[];
}

/** A queue in which nothing is. @param limit pulls at once, at most; null = no bound */
export function emptyPullQueue(limit: number | null): PullQueue {
  return { limit, underWay: [], waiting: [], made: 0 };
}

/**
 * Joins a pull of the same right, or takes the last place of the queue. A pull that has begun is joined only by who did not
 * find the image at all: the registry may have told it an older tag than is right now for one that asks always.
 */
export function askForPull(queue: PullQueue, { asker, right, image, fresh, retry }: PullWish): PullTurn {
  const joins = (pull: Pull) => isOfRight(pull, right) && pull.askers.length > 0;
  const join = (pulls: readonly Pull[], to: Pull) =>
    pulls.map((pull) => (pull === to ? { ...pull, askers: [...pull.askers, asker] } : pull));
  const { underWay, waiting } = queue;
  const begun = fresh ? undefined : underWay.find(joins);
  if (begun !== undefined) return { queue: { ...queue, underWay: join(underWay, begun) }, orders: [] };
  const next = waiting.find(joins);
  if (next !== undefined) return { queue: { ...queue, waiting: join(waiting, next) }, orders: [] };
  const id = queue.made + 1;
  const pull: Pull = { id, right, image, askers: [asker], held: retry };
  const turn = goOn({ ...queue, made: id, waiting: [...waiting, pull] });
  return retry ? { ...turn, orders: [{ do: 'hold', pull }, ...turn.orders] } : turn;
}

/** A pull was held long enough; `askers` now wait for its turn like others, if it does not begin. */
export function letGo(queue: PullQueue, id: number): PullTurn & { askers: readonly string[] } {
  const waiting = queue.waiting.map((pull) => (pull.id === id ? { ...pull, held: false } : pull));
  return { ...goOn({ ...queue, waiting }), askers: waiting.find((pull) => pull.id === id)?.askers ?? [] };
}

/** Somebody waits no more. A pull is ended (or never begins) when the last of those who wait for it has left. */
export function leavePull(queue: PullQueue, asker: string): PullTurn {
  const without = (pull: Pull): Pull =>
    pull.askers.includes(asker) ? { ...pull, askers: pull.askers.filter((each) => each !== asker) } : pull;
  const underWay = queue.underWay.map(without);
  const ended = underWay.filter((pull, i) => pull.askers.length === 0 && (queue.underWay[i]?.askers.length ?? 0) > 0);
  const waiting = queue.waiting.map(without).filter(({ askers }) => askers.length > 0);
  const turn = goOn({ ...queue, underWay, waiting });
  return { queue: turn.queue, orders: [...ended.map((pull): PullOrder => ({ do: 'end', pull })), ...turn.orders] };
}

/** A pull has come to its end, well or not; `askers` are to be told, each for the first and last time. */
export function pullHasEnded(queue: PullQueue, id: number): PullTurn & { askers: readonly string[] } {
  const askers = queue.underWay.find((pull) => pull.id === id)?.askers ?? [];
  return { ...goOn({ ...queue, underWay: queue.underWay.filter((pull) => pull.id !== id) }), askers };
}

/** Images that are named of those ahead, of each kind. */
const NAMED = 3;

/** Where somebody stands in the queue; null when his pull has begun, is held for a moment, or he waits for none. */
export function placeInQueue({ underWay, waiting }: PullQueue, asker: string): PullPlace | null {
  const index = waiting.findIndex(({ askers }) => askers.includes(asker));
  if (index < 0 || waiting[index]?.held === true) return null;
  const named = (pulls: readonly Pull[]) => pulls.slice(0, NAMED).map(({ image }) => image);
  const place = {
    place: index + 1,
    underWay: named(underWay),
    before: named(waiting.slice(0, index)),
  };
  return { ...place, more: underWay.length + index - place.underWay.length - place.before.length };
}

/** Begins what may begin: first come, first served, but for pulls whose right has one under way already. */
function goOn(queue: PullQueue): PullTurn {
  const orders: PullOrder[] = [];
  const underWay = [...queue.underWay];
  const waiting: Pull[] = [];
  for (const pull of queue.waiting) {
    const full = queue.limit !== null && underWay.length >= queue.limit;
    if (full || pull.held || underWay.some((other) => isOfRight(other, pull.right))) waiting.push(pull);
    else {
      underWay.push(pull);
      orders.push({ do: 'begin', pull });
    }
  }
  return { queue: { ...queue, underWay, waiting }, orders };
}

/** Two pulls of one right are never under way at once, and one is enough for all who wait. */
function isOfRight(pull: Pull, right: string): boolean {
  return pull.right === right;
}
