import type { UidTable } from './uid-table.ts';
import { atUid, withUid, withoutUid } from './uid-table.ts';

/**
 * Which pods must be looked at before their actors may start: an actor that starts without what the runtime holds of its pod
 * would make everything a second time. Plain JSON; the supervisor's host keeps the looks themselves and the orders that wait.
 */
export interface Looks {
  /** There is somebody who looks when he is asked. */
  canLook: boolean;
  /**
   * Pods whose worker died, and when it was replaced (ms since the epoch), or that come back and when they had ended: what
   * was done last may not have been seen, so they are looked at anew.
   */
  stale: UidTable<number>;
  /** Pods whose orders wait for a look. */
  waiting: UidTable<true>;
  /** Pods that have finished and that an earlier agent remembered something of, which is over, too. */
  over: UidTable<true>;
}

/** What the looks are told. `at`: ms since the epoch. */
export type LookMessage =
  /** A pod was looked at; the look began at `began`. */
  | { type: 'look.came'; at: number; uid: string; began: number }
  /** These pods had their actors in a worker that has died. */
  | { type: 'look.lost'; at: number; uids: readonly string[] }
  /** An actor is to start. `seen`: there is a look at its pod, `held`: the runtime has something of it. */
  | { type: 'look.start'; at: number; uid: string; seen: boolean; held: boolean }
  /**
   * The supervisor forgets a pod. `remains`: its actor may have left what was dead of it, `again`: it starts anew right after,
   * `given`: its source gave it up, `remembered`: an earlier agent knew something of it.
   */
  | {
      type: 'look.forget';
      at: number;
      uid: string;
      remains: boolean;
      again: boolean;
      given: boolean;
      held: boolean;
      remembered: boolean;
    };

/** What follows. */
export type LookOrder =
  /** Have the pod looked at. */
  | { type: 'pod.look'; uid: string }
  /** The look tells nothing of now: leave it alone. */
  | { type: 'look.drop'; uid: string }
  /** Carry the pod's start out, and what was kept for it. */
  | { type: 'orders.go'; uid: string }
  /** Keep the start, and whatever is ordered for the pod, until it was looked at. */
  | { type: 'orders.keep'; uid: string };

/** Nothing is awaited. */
export function noLooks(canLook: boolean): Looks {
  return { canLook, stale: {}, waiting: {}, over: {} };
}

/** Does a look at this pod, that began and came at these times, change anything? Most do not. */
export function isAwaited({ canLook, stale, waiting }: Looks, uid: string, began: number, at: number): boolean {
  return atUid(waiting, uid) !== undefined || atUid(stale, uid) !== undefined || (canLook && began > at);
}

/** Is something kept for this pod? */
export function waitsForLook({ waiting }: Looks, uid: string): boolean {
  return atUid(waiting, uid) !== undefined;
}

/** One step. */
export function stepLooks(looks: Looks, message: LookMessage): { state: Looks; outputs: LookOrder[] } {
  switch (message.type) {
    case 'look.came':
      return lookCame(looks, message);
    case 'look.lost': {
      const stale = message.uids.reduce((table, uid) => withUid(table, uid, message.at), looks.stale);
      return { state: { ...looks, stale }, outputs: [] };
    }
    case 'look.start':
      return start(looks, message);
    case 'look.forget':
      return forget(looks, message);
  }
}

function lookCame(
  looks: Looks,
  { at, uid, began }: Extract<LookMessage, { type: 'look.came' }>,
): { state: Looks; outputs: LookOrder[] } {
  const { canLook, stale, waiting } = looks;
  // The clock was set back after this look: by its time it would be newer than all that is done from now on, and what is
  // made would seem to have vanished.
  const drop = { type: 'look.drop', uid } as const;
  if (canLook && began > at) return { state: looks, outputs: [drop, { type: 'pod.look', uid }] };
  const lost = atUid(stale, uid);
  if (canLook && lost !== undefined) {
    // The clock may have been set back since.
    const since = Math.min(lost, at);
    // It began while the worker that died may still have been at work.
    if (began < since)
      return { state: { ...looks, stale: withUid(stale, uid, since) }, outputs: [{ type: 'pod.look', uid }] };
  }
  const state = { ...looks, stale: withoutUid(stale, uid), waiting: withoutUid(waiting, uid) };
  return { state, outputs: atUid(waiting, uid) === undefined ? [] : [{ type: 'orders.go', uid }] };
}

function start(
  looks: Looks,
  { uid, seen, held }: Extract<LookMessage, { type: 'look.start' }>,
): { state: Looks; outputs: LookOrder[] } {
  const { canLook, stale, waiting } = looks;
  const known = atUid(stale, uid) === undefined && (seen || !held);
  if (atUid(waiting, uid) === undefined && (known || !canLook))
    return { state: looks, outputs: [{ type: 'orders.go', uid }] };
  const state = { ...looks, waiting: withUid<true>(waiting, uid, true) };
  return {
    state,
    outputs: [
      { type: 'orders.keep', uid },
      { type: 'pod.look', uid },
    ],
  };
}

function forget(
  looks: Looks,
  message: Extract<LookMessage, { type: 'look.forget' }>,
): { state: Looks; outputs: LookOrder[] } {
  const { at, uid, remains, again, given, held, remembered } = message;
  const stale = withoutUid(looks.stale, uid);
  const state: Looks = {
    ...looks,
    waiting: withoutUid(looks.waiting, uid),
    // Its next life must know what is left, and the last look may be from before its end.
    stale: remains && again ? withUid(stale, uid, at) : stale,
    // Only these: a table of all pods that ever were would grow for ever.
    over: remembered ? withUid<true>(looks.over, uid, true) : looks.over,
  };
  // When there is to be no next life after all, what is left has to go. And a pod that its source gave up while it waited for
  // another of its name never had an actor: what an earlier agent left of it does not change any more, so no relist would name
  // it (kubelet HandlePodCleanups looks each 2 s).
  const look = remains ? !again : given && held;
  return { state, outputs: look ? [{ type: 'pod.look', uid }] : [] };
}
