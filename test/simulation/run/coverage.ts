import { statePath } from '../../../machines/machine-step/step.ts';
import { isPossible } from './possible-moves.ts';

/** What runs have been through: states and transitions of all machines, faults that struck. */
export class Coverage {
  /** How often, by `machine state`. */
  readonly states = new Map<string, number>();
  /** How often, by `machine state -> state`. */
  readonly transitions = new Map<string, number>();
  readonly faults = new Map<string, number>();

  /**
   * A machine came to another state; `from` is null for one that was just made.
   *
   * @returns the move as `machine state -> state`, when it is one of `unreached-moves.ts`; null otherwise
   */
  move(machine: string, from: unknown, to: unknown): string | null {
    const after = statePath(to);
    bump(this.states, `${machine} ${after}`, 1);
    if (from === null) return null;
    const before = statePath(from);
    // Where a machine begins is not always told.
    if (!this.states.has(`${machine} ${before}`)) bump(this.states, `${machine} ${before}`, 1);
    if (before === after) return null;
    const move = `${machine} ${before} -> ${after}`;
    const known = this.transitions.has(move);
    bump(this.transitions, move, 1);
    return known || isPossible(move) ? null : move;
  }

  add(other: Coverage): void {
    for (const part of ['states', 'transitions', 'faults'] as const)
      for (const [name, count] of other[part]) bump(this[part], name, count);
  }
}

function bump(counts: Map<string, number>, name: string, by: number): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}
