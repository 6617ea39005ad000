import type { PodStatus } from '../protocol/api-types.ts';
import type { PodMemory } from '../protocol/memory.ts';
import type { Printing } from '../values/fingerprint.ts';

/** A report with a status, and its fingerprint. */
export interface StatusPrint {
  focus: string;
  why: string;
  memory: PodMemory;
  print: string;
}

/**
 * What was worked out of a status object, so that it is done once. Statuses are never changed in place. Everything stands
 * in one place because each weak reference costs the garbage collector time.
 */
export interface StatusNotes {
  /** The fingerprint of a report as far as the status goes. */
  printing: Printing | null;
  /** The last report with it. */
  print: StatusPrint | null;
  /** What it was computed from, when it came out of these inputs and itself unchanged (report.ts). */
  settled: readonly unknown[] | null;
}

const NOTES = new WeakMap<PodStatus, StatusNotes>();

/** The notes on a status, empty at first. */
export function notesOf(status: PodStatus): StatusNotes {
  let notes = NOTES.get(status);
  if (notes === undefined) NOTES.set(status, (notes = { printing: null, print: null, settled: null }));
  return notes;
}
