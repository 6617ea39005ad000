import { ActorletError } from '../../../machines/errors/define.ts';
import { journalErrors } from '../../../machines/errors/journal-errors.ts';

/** A place in a journal: a message number of its writer, or a time, ms since the epoch. */
export type Moment = { n: number } | { at: number };

/** The part of a journal that is to be looked at. */
export interface Selection {
  /** `namespace/name` or UID; all pods and the supervisor without it. */
  pod?: string;
  /** The first message of the part. */
  from?: Moment;
  /** The last one. */
  until?: Moment;
}

/** Numbers above are times. */
const MOST_MESSAGES = 1e11;

/** Reads `--from` and `--until`: a message number, an ISO 8601 time, or ms since the epoch. Throws JRN008. */
export function momentOf(flag: string, value: string): Moment {
  if (/^\d+$/.test(value)) {
    const number = Number(value);
    return number < MOST_MESSAGES ? { n: number } : { at: number };
  }
  const at = Date.parse(value);
  if (Number.isNaN(at)) throw new ActorletError(journalErrors.unknownMoment, { flag, value });
  return { at };
}

/** The message stands before the part. */
export function isBefore(n: number, at: number, from: Moment | undefined): boolean {
  if (from === undefined) return false;
  return 'n' in from ? n < from.n : at < from.at;
}

/** The message stands after the part. */
export function isAfter(n: number, at: number, until: Moment | undefined): boolean {
  if (until === undefined) return false;
  return 'n' in until ? n > until.n : at > until.at;
}

/** The pod is the chosen one; every pod is when none was chosen. */
export function isChosen(selection: Selection, uid: string, name: string): boolean {
  return selection.pod === undefined || selection.pod === uid || selection.pod === name;
}
