import { statePath } from '../../../machines/machine-step/step.ts';

/** What runs have been through: states and transitions of all machines, faults that struck. */
export class Coverage {
  /** How often, by `machine state`. */
  readonly states = new Map<string, number>();
  /** How often, by `machine state -> state`. */
  readonly transitions = new Map<string, number>();
  readonly faults = new Map<string, number>();

  /** A machine came to another state; `from` is null for one that was just made. */
  move(machine: string, from: unknown, to: unknown): void {
    const after = statePath(to);
    bump(this.states, `${machine} ${after}`, 1);
    if (from === null) return;
    const before = statePath(from);
    // Where a machine begins is not always told.
    if (!this.states.has(`${machine} ${before}`)) bump(this.states, `${machine} ${before}`, 1);
    if (before !== after) bump(this.transitions, `${machine} ${before} -> ${after}`, 1);
  }

  add(other: Coverage): void {
    for (const part of ['states', 'transitions', 'faults'] as const)
      for (const [name, count] of other[part]) bump(this[part], name, count);
  }
}

function bump(counts: Map<string, number>, name: string, by: number): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}
