import type { Urgency } from '../status/status-urgency.ts';
import { atUid, withoutUid, withUid } from '../supervisor/uid-table.ts';
import type { UidTable } from '../supervisor/uid-table.ts';
import { NO_PAUSE } from './server-pause.ts';
import type { ServerPause } from './server-pause.ts';

/** What the status manager knows of one pod. It decides without the statuses themselves; times are ms since the epoch. */
export interface StatusEntry {
  /** The pod comes from the API; of others a mirror pod shows the status. */
  ofApi: boolean;
  /** The pod's state as it told it last, a dotted path. */
  state: string;
  urgency: Urgency;
  /** When the oldest status arrived that the API does not know yet; 0 when it knows all. */
  unsentSince: number;
  /** A status that may wait is not sent before; 0 when none waits. */
  holdUntil: number;
  /** The status that was sent last was one that may wait. */
  quietSent: boolean;
  /** A patch that tells only generations was put off once. */
  minorWasHeld: boolean;
  /** It waits for its turn to be compared with the API's object. */
  waits: boolean;
  /** Number of its request that is under way; 0 when none is. */
  request: number;
  /** Failures in a row of this pod's requests, and when the next may go out. */
  failures: number;
  notBefore: number;
  /** Fingerprint of a patch that the server took without effect: it is not sent again. */
  withoutEffect: string;
  /** Answers in a row that showed something else overwritten; absent for none. */
  overwritten?: number;
  /** The final DELETE was answered. */
  deleted: boolean;
  /** The pod's machine is gone: the entry goes when the API's object does. */
  forgotten: boolean;
}

/** A request that is under way. */
export interface Flight {
  uid: string;
  does: 'patch' | 'delete';
  /** Since when what it tells was unsent; 0 for nothing of that sort. */
  since: number;
  /** The API's object has finalizers: a DELETE does not end it. */
  finalizers: boolean;
}

/** The status manager's memory; plain JSON. */
export interface StatusState {
  pods: UidTable<StatusEntry>;
  /** Pods that wait to be compared, oldest first. */
  waiting: readonly string[];
  /** By number. */
  underWay: Readonly<Record<string, Flight>>;
  /** Requests so far. */
  requests: number;
  pause: ServerPause;
}

/** Nothing was told yet. */
export const NOTHING_TOLD: StatusState = { pods: {}, waiting: [], underWay: {}, requests: 0, pause: NO_PAUSE };

/** Of a pod of which nothing was sent yet. */
export function newStatusEntry(told: Pick<StatusEntry, 'ofApi' | 'state' | 'urgency'>): StatusEntry {
  return {
    ...told,
    unsentSince: 0,
    holdUntil: 0,
    quietSent: false,
    minorWasHeld: false,
    waits: false,
    request: 0,
    failures: 0,
    notBefore: 0,
    withoutEffect: '',
    deleted: false,
    forgotten: false,
  };
}

/** What is known of a pod. */
export function entryOf({ pods }: StatusState, uid: string): StatusEntry | undefined {
  return atUid(pods, uid);
}

/** The state with this of the pod. */
export function withEntry(state: StatusState, uid: string, entry: StatusEntry): StatusState {
  return { ...state, pods: withUid(state.pods, uid, entry) };
}

/** The state with the pod at the end of those that wait; one that waits already keeps its place. */
export function waiting(state: StatusState, uid: string, entry: StatusEntry): StatusState {
  if (entry.waits) return withEntry(state, uid, entry);
  return withEntry({ ...state, waiting: [...state.waiting, uid] }, uid, { ...entry, waits: true });
}

/** The state without the pod. */
export function withoutEntry(state: StatusState, uid: string): StatusState {
  const others = atUid(state.pods, uid)?.waits === true ? state.waiting.filter((one) => one !== uid) : state.waiting;
  return { ...state, pods: withoutUid(state.pods, uid), waiting: others };
}
