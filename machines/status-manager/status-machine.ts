import { backOffMs } from '../values/back-off.ts';
import { isAway, longerPause, NO_PAUSE, spreadBackOff } from './server-pause.ts';
import { beginRequest, isNothingNew } from './status-request.ts';
import { entryOf, newStatusEntry, waiting, withEntry, withoutEntry } from './status-entry.ts';
import type { Flight, StatusEntry, StatusState } from './status-entry.ts';
import type { Finding, StatusMessage, StatusOrder } from './status-messages.ts';
import { CROWDED_HOLD_MS, CROWDED_LOOK_MS, HOLD_MS, isCleaned, isEnding, LONG_HOLD_MS } from './status-holds.ts';

/** Requests under way for the whole node. */
const MAX_IN_FLIGHT = 16;
/** Back-off of one pod's requests, ms: the first is short, since the Node authorizer lags a binding by some ms. */
const RETRY = { firstMs: 50, maxMs: 10_000 };
/** Who changes a status with each patch of ours (a webhook, say) is contradicted once at once, then after such pauses, ms (kubelet: every 10 s). */
const CONTRADICT = { firstMs: 1_000, maxMs: 10_000 };

type MessageOf<T extends StatusMessage['type']> = Extract<StatusMessage, { type: T }>;

/** When, and whether the way to the server is crowded. */
type Turn = Pick<MessageOf<'status.turn'>, 'at' | 'crowded'>;

/** What a step comes to. */
export interface StatusStep {
  state: StatusState;
  outputs: StatusOrder[];
}

/**
 * One step of the status manager (kubelet status manager): it tells the API the newest status of each pod, with at most one
 * request for each pod at a time, none when the API shows the same, few while statuses say little or the server is away. A pod
 * that is marked for deletion and has ended and been cleaned up is removed.
 */
export function stepStatus(state: StatusState, message: StatusMessage): StatusStep {
  switch (message.type) {
    case 'status.told':
      return { state: told(state, message), outputs: [] };
    case 'status.look': {
      const entry = entryOf(state, message.uid);
      return { state: entry === undefined ? state : waiting(state, message.uid, entry), outputs: [] };
    }
    case 'status.turn':
      return goOn(state, message, []);
    case 'status.compared':
      return compared(state, message);
    case 'status.answered':
      return answered(state, message);
    case 'status.failed':
      return failed(state, message);
    case 'pod.forget': {
      const entry = entryOf(state, message.uid);
      if (entry === undefined) return { state, outputs: [] };
      const forgotten = withEntry(state, message.uid, { ...entry, forgotten: true });
      return entry.ofApi && message.shown ? { state: forgotten, outputs: [] } : dropped(forgotten, [message.uid]);
    }
    case 'api.gone':
      return dropped(state, [message.uid]);
    case 'api.listed': {
      const { state: left, outputs } = dropped(state, message.gone);
      return { state: serverBack(left), outputs };
    }
    case 'status.stop':
      return { state: { ...state, pods: {}, waiting: [] }, outputs: [] };
  }
}

/** The state as a dotted path. */
export function statusState({ pause, underWay, waiting: waits }: StatusState): string {
  if (isAway(pause)) return 'away';
  if (Object.keys(underWay).length > 0) return 'telling';
  return waits.length > 0 ? 'holding' : 'idle';
}

/** Is anybody to be compared as soon as he may? */
export function hasWaiting({ waiting: waits }: StatusState): boolean {
  return waits.length > 0;
}

/** The pod's request is under way or its turn is to come: it is compared after that, anyway. */
export function isBusy(state: StatusState, uid: string): boolean {
  const entry = entryOf(state, uid);
  return entry !== undefined && (entry.waits || entry.request !== 0);
}

/** Would this comparison of a pod that nobody waits for call for nothing? Most do, and are not told. */
export function changesNothing(state: StatusState, finding: Finding): boolean {
  const entry = entryOf(state, finding.uid);
  return entry === undefined || isNothingNew(entry, finding);
}

/**
 * Does this report leave what is known of the pod as it is? One that waits is compared with what was told last, anyway; of one that does not, this
 * says so only together with a comparison with an object that {@link changesNothing}. Most reports say where a pod is on its way, and are not told.
 */
export function repeats(
  entry: StatusEntry,
  { ofApi, state: place, urgency }: Pick<MessageOf<'status.told'>, 'ofApi' | 'state' | 'urgency'>,
): boolean {
  if (
    entry.forgotten ||
    entry.request !== 0 ||
    entry.overwritten !== undefined ||
    entry.ofApi !== ofApi ||
    entry.urgency !== urgency
  )
    return false;
  const there = { state: place };
  if (isEnding(entry) !== isEnding(there) || isCleaned(entry) !== isCleaned(there)) return false;
  if (urgency === 'now' && (entry.holdUntil !== 0 || entry.quietSent)) return false;
  const isHeld = urgency === 'mayWait' && entry.holdUntil !== 0;
  return entry.waits ? entry.unsentSince !== 0 && (urgency === 'now' || isHeld) : entry.unsentSince === 0 && !isHeld;
}

function told(state: StatusState, { at, uid, ofApi, state: place, urgency }: MessageOf<'status.told'>): StatusState {
  const before = entryOf(state, uid) ?? newStatusEntry({ ofApi, state: place, urgency });
  const entry = { ...before, ofApi, state: place, urgency, forgotten: false };
  if (entry.unsentSince === 0) entry.unsentSince = at;
  // News wait for nobody's quarrel.
  if (entry.overwritten !== undefined) entry.notBefore = 0;
  if (urgency === 'now') {
    entry.holdUntil = 0;
    entry.quietSent = false;
  } else if (entry.holdUntil === 0) {
    entry.holdUntil = at + (entry.quietSent || isEnding(entry) ? LONG_HOLD_MS : HOLD_MS);
  }
  return waiting(state, uid, entry);
}

/** Has those compared whose time has come, as many as may have requests; when there are none, says when the next is due. */
function goOn(state: StatusState, { at, crowded }: Turn, outputs: StatusOrder[]): StatusStep {
  const free = (isAway(state.pause) ? 1 : MAX_IN_FLIGHT) - Object.keys(state.underWay).length;
  if (free <= 0 || state.waiting.length === 0) return { state, outputs };
  const uids: string[] = [];
  let wakeAt = Infinity;
  for (const uid of state.waiting) {
    if (uids.length >= free) break;
    const entry = entryOf(state, uid);
    if (entry === undefined || entry.request !== 0) continue;
    const due = Math.max(entry.notBefore, entry.holdUntil, state.pause.until);
    if (due > at) wakeAt = Math.min(wakeAt, due);
    else if (crowded === true && givesWay(entry, at)) wakeAt = Math.min(wakeAt, at + CROWDED_LOOK_MS);
    else uids.push(uid);
  }
  if (uids.length === 0) {
    if (wakeAt < Infinity) outputs.push({ type: 'status.wake', at: wakeAt });
    return { state, outputs };
  }
  const taken = new Set(uids);
  let next: StatusState = { ...state, waiting: state.waiting.filter((uid) => !taken.has(uid)) };
  for (const uid of uids) {
    const entry = entryOf(next, uid);
    if (entry !== undefined) next = withEntry(next, uid, { ...entry, waits: false });
  }
  outputs.push({ type: 'status.compare', uids });
  return { state: next, outputs };
}

/** What it tells may wait for those that crowd the way. */
function givesWay({ urgency, unsentSince }: StatusEntry, at: number): boolean {
  return urgency === 'mayWait' && at < unsentSince + CROWDED_HOLD_MS;
}

function compared(state: StatusState, message: MessageOf<'status.compared'>): StatusStep {
  const { at, found } = message;
  const outputs: StatusOrder[] = [];
  let next = state;
  for (const finding of found) {
    const entry = entryOf(next, finding.uid);
    if (entry !== undefined) next = beginRequest(next, entry, finding, at, outputs);
  }
  return goOn(next, message, outputs);
}

function answered(state: StatusState, message: MessageOf<'status.answered'>): StatusStep {
  const { at, n, left } = message;
  const flight = state.underWay[String(n)];
  if (flight === undefined) return { state, outputs: [] };
  const landed = { ...land(state, n), pause: NO_PAUSE };
  const entry = entryOf(landed, flight.uid);
  const own = entry?.request === n ? { ...entry, request: 0, failures: 0 } : null;
  if (flight.does === 'patch') {
    const next =
      own === null ? landed : withEntry(landed, flight.uid, { ...contradicted(own, message), withoutEffect: left });
    return { state: next, outputs: flight.since > 0 ? [{ type: 'status.measure', ms: at - flight.since }] : [] };
  }
  const next = own === null ? landed : withEntry(landed, flight.uid, { ...own, deleted: true });
  // With finalizers the object stays until others have taken theirs off; the watch tells.
  return flight.finalizers ? { state: next, outputs: [] } : apiGone(next, n, flight);
}

/** What is known of a pod whose patch was answered so. */
function contradicted(entry: StatusEntry, { at, overwritten }: MessageOf<'status.answered'>): StatusEntry {
  const { overwritten: before = 0, ...rest } = entry;
  if (overwritten !== true) return rest;
  return { ...rest, overwritten: before + 1, ...(before > 0 && { notBefore: at + backOffMs(before, CONTRADICT) }) };
}

function failed(state: StatusState, { at, n, why, askedMs, chance }: MessageOf<'status.failed'>): StatusStep {
  const flight = state.underWay[String(n)];
  if (flight === undefined) return { state, outputs: [] };
  let next = land(state, n);
  const found = entryOf(next, flight.uid);
  let own: StatusEntry | null = found?.request === n ? { ...found, request: 0 } : null;
  if (why !== 'stopped') {
    const pause = why === 'away' ? longerPause(state.pause, at, askedMs, chance) : NO_PAUSE;
    next = { ...next, pause };
    if (own !== null && flight.does === 'patch') own = { ...own, unsentSince: flight.since || at };
    if (own !== null && why !== 'away') {
      const failures = own.failures + 1;
      own = { ...own, failures, notBefore: at + spreadBackOff(failures, RETRY, chance) };
    }
  }
  if (own !== null) next = withEntry(next, flight.uid, own);
  if (why === 'stopped') return { state: next, outputs: [] };
  if (why === 'gone') return apiGone(next, n, flight);
  // The first refusal is often a cache of the server that lags, and an outage is told once.
  const quiet = isAway(next.pause) ? isAway(state.pause) : (own?.failures ?? 1) === 1;
  const again = entryOf(next, flight.uid);
  if (again !== undefined) next = waiting(next, flight.uid, again);
  return { state: next, outputs: [{ type: 'status.complain', n, loud: !quiet }] };
}

/** The request is over. */
function land(state: StatusState, n: number): StatusState {
  const { [String(n)]: _over, ...underWay } = state.underWay;
  return { ...state, underWay };
}

function apiGone(state: StatusState, n: number, { uid }: Flight): StatusStep {
  const drop = dropped(state, [uid]);
  return { state: drop.state, outputs: [{ type: 'api.drop', n }, ...drop.outputs] };
}

/** The API has no objects of these pods: those whose machines are gone are forgotten. */
function dropped(state: StatusState, uids: readonly string[]): StatusStep {
  let next = state;
  const outputs: StatusOrder[] = [];
  for (const uid of uids) {
    if (entryOf(next, uid)?.forgotten !== true) continue;
    next = withoutEntry(next, uid);
    outputs.push({ type: 'status.drop', uid });
  }
  return { state: next, outputs };
}

/** What waits for the end of a pause may be sent now. */
function serverBack(state: StatusState): StatusState {
  let next: StatusState = { ...state, pause: NO_PAUSE };
  for (const bucket of Object.values(state.pods))
    for (const [uid, entry] of Object.entries(bucket))
      if (entry.notBefore !== 0) next = withEntry(next, uid, { ...entry, notBefore: 0 });
  return next;
}
