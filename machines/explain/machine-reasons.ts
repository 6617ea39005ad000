import { moment, span } from '../values/spoken-time.ts';
import type { Cause, Explanation } from './explanation.ts';
import { short } from './words.ts';

/** A machine that a node has one of, at a moment. Times are ms since the epoch. */
export interface MachinePlace {
  name: string;
  /** The name that it goes by among pods: `@admission`. */
  uid: string;
  state: string;
  since: number;
  /** What it waits for, or what is wrong; '' when nothing is. */
  why: string;
  /** When the first record of it was written that is left. */
  startedAt: number;
}

/** Why a machine that a node has one of is in its state: whatever it is, it says itself what it waits for. */
export function explainMachine({ name, uid, state, since, why, startedAt }: MachinePlace, now: number): Explanation {
  const causes: Cause[] = [
    ...(why === '' ? [] : [{ at: since, text: short(why), kind: 'node' } satisfies Cause]),
    { at: startedAt, text: `its log begins at ${moment(startedAt)}`, kind: 'agent' },
  ];
  return {
    pod: { namespace: '', name, uid },
    ...{ state, since, sinceAtLeast: since <= startedAt, now, gone: false },
    summary: `the node's machine ${name} is in ${state} since ${span(now - since)}: ${why === '' ? 'it waits for nothing' : short(why)}`,
    causes: causes.map((cause) => ({ ...cause, at: Math.min(cause.at, now) })),
  };
}
