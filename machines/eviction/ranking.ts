import type { Candidate } from './candidates.ts';
import type { Signal } from './signals.ts';
import { resourceOf } from './signals.ts';

/**
 * Candidates in the order in which they are evicted: of memory and disk those first that take more than they asked for, then by
 * priority, then by how much more; of process ids by priority, then by how many. Pods that nothing is known of come first.
 */
export function ranked(signal: Signal, candidates: readonly Candidate[]): Candidate[] {
  const byUse = resourceOf(signal) === 'pids' ? compareUsage : compareAbove;
  const order = resourceOf(signal) === 'pids' ? [comparePriority, byUse] : [compareExceeds, comparePriority, byUse];
  return [...candidates].sort((a, b) => {
    for (const compare of order) {
      const result = compare(a, b);
      if (result !== 0) return result;
    }
    return 0;
  });
}

/** Does it take more than it asked for? */
export function exceeds({ figures }: Candidate): boolean {
  return figures !== undefined && figures.usage > figures.request;
}

function compareExceeds(a: Candidate, b: Candidate): number {
  return unknownFirst(a, b) ?? trueFirst(exceeds(a), exceeds(b));
}

function comparePriority(a: Candidate, b: Candidate): number {
  return a.priority - b.priority;
}

function compareAbove(a: Candidate, b: Candidate): number {
  return unknownFirst(a, b) ?? (b.figures?.above ?? 0) - (a.figures?.above ?? 0);
}

function compareUsage(a: Candidate, b: Candidate): number {
  return unknownFirst(a, b) ?? (b.figures?.usage ?? 0) - (a.figures?.usage ?? 0);
}

/** Null: figures of both are there. */
function unknownFirst(a: Candidate, b: Candidate): number | null {
  if (a.figures !== undefined && b.figures !== undefined) return null;
  return trueFirst(a.figures === undefined, b.figures === undefined);
}

function trueFirst(a: boolean, b: boolean): number {
  return Number(b) - Number(a);
}
