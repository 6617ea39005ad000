import { backOffMs } from '../values/back-off.ts';
import { NODE_RETRIES } from './node-retries.ts';
import type { NodeFinding, ObjectMessage, ObjectOrder } from './object-messages.ts';

/** Status updates are spread by up to this share of their period. */
const JITTER = 0.04;
/** Pauses between tries to make the CSINode, ms: 30 ms, eight times longer each. */
export const CSI_PAUSES_MS = [30, 240, 1_920, 15_360, 122_880] as const;

/** What is known of the writing of the node's object; plain JSON, without the object. Times are ms since the epoch. */
export interface ObjectState {
  /** `nodeStatusUpdateFrequency` and `nodeStatusReportFrequency`, ms. */
  updateMs: number;
  reportMs: number;
  registers: boolean;
  /** The object was there once. */
  registered: boolean;
  /** Failed registrations in a row. */
  refusals: number;
  /** A patch is under way; `changed`: it tells more than heartbeats. */
  syncing: { changed: boolean } | null;
  /** Something changed while a patch was under way. */
  again: boolean;
  /** A comparison is about to be made for a change. */
  soon: boolean;
  /** Updates that failed, in a row. */
  failures: number;
  /** The last status was reported then, and the next report is spread by so much, ms. */
  reportedAt: number;
  reportDelay: number;
  unschedulable: boolean;
  /** The podCIDRs that the runtime knows. */
  cidrs: string;
  /** That there is no object was said. */
  missing: boolean;
  /** The CSINode's: is the node's object new, and how often was it tried. */
  csi: { fresh: boolean; tries: number };
}

/** What a step comes to. */
export interface ObjectStep {
  state: ObjectState;
  outputs: ObjectOrder[];
}

type MessageOf<T extends ObjectMessage['type']> = Extract<ObjectMessage, { type: T }>;

/** Of a node that has not started. */
export function newObjectState(updateMs: number, reportMs: number): ObjectState {
  return {
    ...{ updateMs, reportMs },
    registers: false,
    registered: false,
    refusals: 0,
    syncing: null,
    again: false,
    soon: false,
    failures: 0,
    reportedAt: 0,
    reportDelay: 0,
    unschedulable: false,
    cidrs: '',
    missing: false,
    csi: { fresh: false, tries: 0 },
  };
}

/**
 * One step of the keeper of the node's object: it registers the node, writes its status when something changed, else each report
 * period, tries again what failed, and says at once that the node is there when others gave it up. An object that is deleted by
 * hand is not made anew before the next start (kubelet tryUpdateNodeStatus, registerWithAPIServer).
 */
export function stepObject(state: ObjectState, message: ObjectMessage): ObjectStep {
  switch (message.type) {
    case 'object.start':
      return {
        state: { ...state, registers: message.registers },
        outputs: [{ type: message.registers ? 'register.post' : 'object.watch' }],
      };
    case 'register.due':
      return { state, outputs: [{ type: 'register.post' }] };
    case 'register.posted':
      return posted(state, message);
    case 'register.found':
      if (message.patch === null) return registered(state, message.at, message.chance, false);
      return { state, outputs: [{ type: 'register.patch', print: message.patch.print }] };
    case 'register.patched':
      return registered(state, message.at, message.chance, false);
    case 'register.failed':
      return refused(state);
    case 'object.seen':
      return seen(state, message);
    case 'cidrs.refused':
      return { state: { ...state, cidrs: '' }, outputs: [] };
    case 'object.changed':
      if (!state.registered) return { state, outputs: [] };
      if (state.syncing !== null) return { state: { ...state, again: true }, outputs: [] };
      return { state: { ...state, soon: true }, outputs: state.soon ? [] : [{ type: 'sync.soon' }] };
    case 'sync.due':
      return due(state, message);
    case 'sync.patched': {
      const changed = state.syncing?.changed === true;
      const told = reported(state, message.at, changed ? message.spread : null);
      return rest({ ...told, failures: 0 }, periodOf(state, message.chance), [{ type: 'events.tell' }]);
    }
    case 'sync.failed':
      // The patch may have been made from an old version: the next try begins with the newest.
      if (message.status >= 400 && message.status < 500 && message.status !== 429)
        return { state, outputs: [{ type: 'sync.reread' }] };
      // Without a patch the comparison itself failed.
      return retried(state.syncing === null ? { ...state, soon: false } : state);
    case 'sync.reread':
      return retried(state);
    case 'csi.ended': {
      if (message.made) return { state, outputs: [] };
      const { fresh, tries } = state.csi;
      const next = { ...state, csi: { fresh, tries: tries + 1 } };
      return { state: next, outputs: [{ type: 'csi.wait', ms: CSI_PAUSES_MS[tries] ?? null }] };
    }
    case 'csi.due':
      return { state, outputs: [{ type: 'csi.make', fresh: state.csi.fresh }] };
  }
}

/** The state as a dotted path. */
export function objectState({ registered: there, syncing, failures, missing }: ObjectState): string {
  if (!there) return 'registering';
  if (syncing !== null) return 'registered.writing';
  if (failures > 0) return 'registered.failing';
  return missing ? 'registered.missing' : 'registered.resting';
}

/** Is a look at the object, or one more word of a change, of no consequence? Most are, and are not told. */
export function changesNothing(state: ObjectState, message: ObjectMessage): boolean {
  if (message.type === 'object.changed')
    return !state.registered || (state.syncing === null ? state.soon : state.again);
  if (message.type !== 'object.seen') return false;
  const { unschedulable, cidrs } = message;
  const same = !state.missing && unschedulable === state.unschedulable && (cidrs === '' || cidrs === state.cidrs);
  return same && (state.registered || state.registers) && state.failures === 0 && !isGivenUp(message);
}

/** Does a regular comparison call for nothing, and leave all as it is? */
export function isQuiet(state: ObjectState, { at, soon, found }: MessageOf<'sync.due'>): boolean {
  const { syncing, again, failures } = state;
  return !soon && syncing === null && !again && failures === 0 && found !== null && !isDue(state, at, found);
}

function posted(state: ObjectState, { at, came, chance }: MessageOf<'register.posted'>): ObjectStep {
  if (came === 'made') return registered(state, at, chance, true);
  if (came === 'failed') return refused(state);
  // A node that may not create its object may still find one that somebody made for it.
  return { state, outputs: [{ type: 'register.adopt', forbidden: came === 'forbidden' }] };
}

function refused(state: ObjectState): ObjectStep {
  const refusals = state.refusals + 1;
  return {
    state: { ...state, refusals },
    outputs: [{ type: 'register.wait', ms: backOffMs(refusals, NODE_RETRIES) }],
  };
}

function registered(state: ObjectState, at: number, chance: number, made: boolean): ObjectStep {
  const begun = present(reported(state, at, chance), made);
  return { state: begun.state, outputs: [{ type: 'register.done', made }, ...begun.outputs] };
}

/** The object is there for the first time: heartbeats begin. */
function present(state: ObjectState, made: boolean): ObjectStep {
  if (state.registered) return { state, outputs: [] };
  return {
    state: { ...state, registered: true, csi: { fresh: made, tries: 0 } },
    outputs: [
      { type: 'object.present', made },
      { type: 'csi.make', fresh: made },
      // Facts may have changed while the object was made, and with registerNode=false it has no status yet.
      { type: 'object.change' },
    ],
  };
}

function seen(state: ObjectState, message: MessageOf<'object.seen'>): ObjectStep {
  const { unschedulable, cidrs } = message;
  const outputs: ObjectOrder[] = [];
  if (unschedulable !== state.unschedulable)
    outputs.push({ type: 'schedulable.tell', was: state.unschedulable, unschedulable });
  const news = cidrs !== '' && cidrs !== state.cidrs;
  if (news) outputs.push({ type: 'cidrs.tell', cidrs });
  let next: ObjectState = { ...state, missing: false, unschedulable, cidrs: news ? cidrs : state.cidrs };
  if (!state.registers) {
    const begun = present(next, false);
    next = begun.state;
    outputs.push(...begun.outputs);
  }
  // The server answers again: what waits for the end of a pause may go.
  outputs.push({ type: 'lease.retry' });
  if (state.failures > 0 || isGivenUp(message)) outputs.push({ type: 'object.change' });
  return { state: next, outputs };
}

/** The node controller gave the node up, or somebody made the object anew: the node says at once that it is there. */
function isGivenUp({ ready }: MessageOf<'object.seen'>): boolean {
  return ready === null || ready === 'Unknown';
}

function due(before: ObjectState, { at, soon, found, chance }: MessageOf<'sync.due'>): ObjectStep {
  const state = soon ? { ...before, soon: false } : before;
  if (state.syncing !== null) return { state, outputs: [] };
  const well = { ...state, failures: 0 };
  const period = periodOf(state, chance);
  if (found === null) return rest({ ...well, missing: true }, period, state.missing ? [] : [{ type: 'missing.tell' }]);
  if (!isDue(state, at, found)) return rest(well, period, []);
  if (found.patch === null)
    return rest(reported(well, at, found.changed ? chance : null), period, [{ type: 'events.tell' }]);
  return {
    state: { ...state, syncing: { changed: found.changed } },
    outputs: [{ type: 'sync.patch', print: found.patch.print }],
  };
}

/** Something changed, or the last report is too old. One in the future is one of before the clock was set back. */
function isDue({ reportedAt, reportDelay, reportMs }: ObjectState, at: number, { changed }: NodeFinding): boolean {
  return changed || at < reportedAt || at - reportedAt >= reportMs + reportDelay;
}

function retried(state: ObjectState): ObjectStep {
  const failures = state.failures + 1;
  const ms = Math.min(backOffMs(failures, NODE_RETRIES), state.updateMs);
  return rest({ ...state, failures }, ms, [{ type: 'sync.complain', ms }]);
}

/** No patch is under way any more; the next comparison is after so many ms, or now when something changed meanwhile. */
function rest(state: ObjectState, ms: number, orders: ObjectOrder[]): ObjectStep {
  const outputs: ObjectOrder[] = [...orders, { type: 'sync.wait', ms }];
  if (state.again) outputs.push({ type: 'object.change' });
  return { state: { ...state, syncing: null, again: false }, outputs };
}

/** Reports without a change keep their spread; a change draws a new one (kubelet's calculateDelay). @param spread null: no change */
function reported(state: ObjectState, at: number, spread: number | null): ObjectState {
  return { ...state, reportedAt: at, reportDelay: spread === null ? 0 : state.reportMs * (spread - 0.5) };
}

function periodOf({ updateMs }: ObjectState, chance: number): number {
  return updateMs * (1 + chance * JITTER);
}
