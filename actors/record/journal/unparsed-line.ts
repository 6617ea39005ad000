import type { AnyJournaled } from '../machines/journaled-machine.ts';
import { JOURNALED } from '../machines/registry.ts';

/** What the beginning of a line tells without parsing it. */
export interface LineGlance {
  /** Kind of the record without its machine, e.g. `msg` of `sup.msg`; '' when it is not written as the agent writes it. */
  sort: string;
  /** Whose it is; null for specs, and for kinds that a later version has added. */
  machine: AnyJournaled | null;
  /** Time of a message or a segment, ms since the epoch; 0 of others. */
  at: number;
}

const KIND = /^\{"r":"(?:([a-z]+)\.)?([a-z]+)"/;
const BY_PREFIX: ReadonlyMap<string, AnyJournaled> = new Map(JOURNALED.map((machine) => [machine.prefix, machine]));
/** The first `at` stands near the start of its line. */
const TIME_WITHIN = 200;

/** Looks at the beginning of a line: most lines need not be parsed by those who look for something. */
export function glanceAt(line: string): LineGlance {
  const [, prefix = '', sort = ''] = KIND.exec(line) ?? [];
  const machine = sort === 'spec' || sort === '' ? null : (BY_PREFIX.get(prefix) ?? null);
  const timed = sort === 'msg' || sort === 'segment';
  const at = timed ? Number(/"at":(\d+)/.exec(line.slice(0, TIME_WITHIN))?.[1] ?? 0) : 0;
  return { sort, machine, at };
}
