import { backOffMs } from '../values/back-off.ts';
import { NODE_RETRIES } from './node-retries.ts';

/** Share of the lease's duration after which it is renewed. */
const RENEW_SHARE = 0.25;
/** Renewals are spread by up to this share, so that many nodes do not beat at once. */
const JITTER = 0.04;

/** The node's heartbeat; plain JSON, without the lease itself. */
export interface LeaseState {
  /** `nodeLeaseDurationSeconds`. */
  durationSeconds: number;
  /** There is likely no lease yet. */
  create: boolean;
  /** The last answer to a write of ours is known: the next renewal begins with it. */
  known: boolean;
  /** What is under way; null between renewals. `late`: after a POST that found one. */
  asks: 'known' | 'read' | 'post' | 'readLate' | 'foundLate' | 'found' | null;
  /** Renewals that failed, in a row. */
  failures: number;
}

/** What the heartbeat is told. `at`: ms since the epoch, `chance`: in [0, 1). */
export type LeaseMessage =
  /** `fresh`: the node object is new, so there is likely no lease yet. */
  | { type: 'lease.start'; at: number; fresh: boolean }
  /** It is time. `node`: there is a node object; without one there is no lease either. */
  | { type: 'lease.due'; at: number; node: boolean; chance: number }
  /** A request was answered: carried out, no such lease, written by somebody else meanwhile, there is one, or it failed. */
  | { type: 'lease.answered'; at: number; came: 'ok' | 'none' | 'conflict' | 'exists' | 'failed'; chance: number };

/** What follows. */
export type LeaseOrder =
  /** Renew the lease as it was last written or (`found`) read. */
  | { type: 'lease.put'; base: 'known' | 'found' }
  | { type: 'lease.get' }
  | { type: 'lease.post' }
  /** Send `lease.due` after so many ms. */
  | { type: 'lease.wait'; ms: number }
  /** Say that it failed, and is tried again after so many ms. `changed`: it changed between reading and writing it. */
  | { type: 'lease.complain'; changed: boolean; ms: number };

/** Of a lease that is not kept yet. */
export function newLeaseState(durationSeconds: number): LeaseState {
  return { durationSeconds, create: false, known: false, asks: null, failures: 0 };
}

interface LeaseStep {
  state: LeaseState;
  outputs: LeaseOrder[];
}

/**
 * One step of the heartbeat (kubelet's lease controller): each quarter of the lease's duration the last known lease is written;
 * when that is not there or not the latest, it is read or made first.
 */
export function stepLease(state: LeaseState, message: LeaseMessage): LeaseStep {
  switch (message.type) {
    case 'lease.start':
      return { state: { ...state, create: message.fresh }, outputs: [] };
    case 'lease.due':
      if (state.asks !== null) return { state, outputs: [] };
      if (!message.node) return renewed(state, message.chance);
      if (state.known) return ask(state, 'known');
      return ask(state, state.create ? 'post' : 'read');
    case 'lease.answered':
      return answered(state, message);
  }
}

/** The state as a dotted path. */
export function leaseState({ asks, failures }: LeaseState): string {
  return `${failures > 0 ? 'failing' : 'kept'}.${asks ?? 'resting'}`;
}

/** The server answers again: may a renewal that failed be tried before its pause is over? */
export function maySkipPause({ asks, failures }: LeaseState): boolean {
  return asks === null && failures > 0;
}

function answered(state: LeaseState, { came, chance }: Extract<LeaseMessage, { type: 'lease.answered' }>): LeaseStep {
  const { asks } = state;
  // Of a write.
  const lost = came === 'none' || came === 'conflict' || came === 'exists';
  switch (asks) {
    case null:
      return { state, outputs: [] };
    case 'known':
      if (came === 'ok') return renewed(state, chance);
      if (!lost) return failed(state, false, chance);
      return ask({ ...state, known: false }, state.create ? 'post' : 'read');
    case 'read':
      if (came === 'ok') return ask(state, 'found');
      return came === 'none' ? ask(state, 'post') : failed(state, false, chance);
    case 'found':
      if (came === 'ok') return renewed({ ...state, known: true }, chance);
      return failed(lost ? { ...state, known: false } : state, lost, chance);
    case 'post':
      if (came === 'ok') return renewed({ ...state, known: true }, chance);
      return came === 'exists' ? ask(state, 'readLate') : failed(state, false, chance);
    case 'readLate':
      if (came === 'ok') return ask(state, 'foundLate');
      return came === 'none' ? renewed(state, chance) : failed(state, false, chance);
    case 'foundLate':
      if (came === 'ok') return renewed({ ...state, known: true }, chance);
      return lost ? renewed({ ...state, known: false }, chance) : failed(state, false, chance);
  }
}

function ask(state: LeaseState, asks: NonNullable<LeaseState['asks']>): LeaseStep {
  const orders: Record<typeof asks, LeaseOrder> = {
    known: { type: 'lease.put', base: 'known' },
    found: { type: 'lease.put', base: 'found' },
    foundLate: { type: 'lease.put', base: 'found' },
    read: { type: 'lease.get' },
    readLate: { type: 'lease.get' },
    post: { type: 'lease.post' },
  };
  return { state: { ...state, asks }, outputs: [orders[asks]] };
}

function renewed(state: LeaseState, chance: number): LeaseStep {
  const next = { ...state, asks: null, create: false, failures: 0 };
  return { state: next, outputs: [{ type: 'lease.wait', ms: periodOf(state, chance) }] };
}

function failed(state: LeaseState, changed: boolean, chance: number): LeaseStep {
  const failures = state.failures + 1;
  const ms = Math.min(periodOf(state, chance), backOffMs(failures, NODE_RETRIES));
  return {
    state: { ...state, asks: null, failures },
    outputs: [
      { type: 'lease.complain', changed, ms },
      { type: 'lease.wait', ms },
    ],
  };
}

function periodOf({ durationSeconds }: LeaseState, chance: number): number {
  return durationSeconds * 1000 * RENEW_SHARE * (1 + chance * JITTER);
}
