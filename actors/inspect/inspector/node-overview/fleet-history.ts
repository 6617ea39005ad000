import { isWaiting } from '../../../../machines/charts/state-tone.ts';
import type { PodEntry } from '../pod-entry.ts';
import type { StateHistory } from '../inspector-api.ts';
import type { Call } from './slow-calls.ts';
import { keepSlow } from './slow-calls.ts';
import { TimeBuckets } from './time-buckets.ts';

/** Most spans of time that the history is told in. */
export const MOST_SPANS = 360;

interface Span {
  /** How many more pods are in a state at its end than at its beginning. */
  moves: Map<string, number>;
  /** The longest calls that were answered in it. */
  calls: Call[];
}

/**
 * What all pods of the node did over time, kept while the journal is read: how many were in which state, and the calls
 * that took longest. Bounded, however many pods and steps there are: spans of time get wider as more of it is covered.
 */
export class FleetHistory {
  private readonly spans = new TimeBuckets<Span>(MOST_SPANS, {
    make: () => ({ moves: new Map(), calls: [] }),
    merge: (into, { moves, calls }) => {
      addMoves(into.moves, moves);
      for (const call of calls) keepSlow(into.calls, call);
    },
  });
  /** Pods in each state before the first span. */
  private readonly base = new Map<string, number>();

  /** Counts a pod where it is now. To be called whenever its state changed, it began or it is gone. */
  place(entry: PodEntry, at: number): void {
    const { line, counted } = entry;
    const now = line.gone ? '' : line.state;
    if (now === counted) return;
    const { moves } = this.spans.at(at);
    if (counted !== '') add(moves, counted, -1);
    if (now !== '') add(moves, now, 1);
    entry.counted = now;
    entry.goneAt = line.gone ? at : 0;
    if (!isWaiting(line.state)) entry.waitingSince = 0;
    else if (entry.waitingSince === 0 && !line.gone) entry.waitingSince = at;
  }

  /** A call was answered at `at + ms`. */
  call(call: Call): void {
    keepSlow(this.spans.at(call.at + call.ms).calls, call);
  }

  /** What came before is not in the journal any more: its calls go, its counts stay as where the rest begins. */
  forgetBefore(moment: number): void {
    for (const { moves } of this.spans.takeBefore(moment)) addMoves(this.base, moves);
  }

  /** How many pods were in which state at the end of each span from one moment to another. */
  states(from: number, to: number): StateHistory {
    this.spans.cover(from, to);
    const first = this.spans.numberOf(from);
    const length = this.spans.numberOf(to) - first + 1;
    const start = first * this.spans.width;
    const counts = new Map<string, number[]>();
    const now = new Map(this.base);
    for (let i = 0; i < length; i++) {
      addMoves(now, this.spans.get(first + i)?.moves ?? new Map());
      for (const state of now.keys())
        if (!counts.has(state))
          counts.set(
            state,
            Array.from({ length: i }, () => 0),
          );
      for (const [state, row] of counts) row.push(now.get(state) ?? 0);
    }
    const states = [...counts]
      .filter(([, row]) => row.some((count) => count !== 0))
      .map(([state, row]) => ({ state, counts: row }))
      .sort((a, b) => (a.state < b.state ? -1 : 1));
    return { start, width: this.spans.width, length, states };
  }

  /** The longest calls that were answered up to a moment, by spans; and those answered later that were under way then. */
  calls(from: number, to: number, at: number): { answered: Call[]; underWay: Call[] } {
    const first = this.spans.numberOf(from);
    const last = this.spans.numberOf(to);
    const answered: Call[] = [];
    const underWay: Call[] = [];
    for (let number = first; number <= last; number++) {
      for (const call of this.spans.get(number)?.calls ?? []) {
        if (call.at + call.ms <= at) keepSlow(answered, call);
        else if (call.at <= at) underWay.push(call);
      }
    }
    return { answered, underWay };
  }
}

function add(moves: Map<string, number>, state: string, by: number): void {
  const count = (moves.get(state) ?? 0) + by;
  if (count === 0) moves.delete(state);
  else moves.set(state, count);
}

function addMoves(into: Map<string, number>, moves: ReadonlyMap<string, number>): void {
  for (const [state, by] of moves) add(into, state, by);
}
