import { statePath } from '../../../machines/machine-step/step.ts';
import type { PodSnapshot } from '../../../machines/pod/pod-context.ts';
import { podState } from '../../../machines/pod/pod-step.ts';

/** What runs have been through: states and transitions of the machines, faults that struck. */
export class Coverage {
  readonly states = new Map<string, number>();
  readonly transitions = new Map<string, number>();
  readonly faults = new Map<string, number>();

  /** A step of a pod with its containers and probes. */
  step(before: PodSnapshot, after: PodSnapshot): void {
    this.pass('pod', podState(before), podState(after));
    for (const kind of ['containers', 'probes'] as const) {
      const was: Record<string, { value: unknown }> = before.context[kind];
      const is: Record<string, { value: unknown }> = after.context[kind];
      if (was === is) continue;
      for (const [name, { value }] of Object.entries(is)) {
        if (was[name]?.value === value) continue;
        const from = was[name] === undefined ? '' : statePath(was[name].value as never);
        this.pass(kind === 'containers' ? 'container' : 'probe', from, statePath(value as never));
      }
    }
  }

  add(other: Coverage): void {
    for (const part of ['states', 'transitions', 'faults'] as const)
      for (const [name, count] of other[part]) bump(this[part], name, count);
  }

  private pass(machine: string, from: string, to: string): void {
    if (from === to) return;
    bump(this.states, `${machine} ${to}`, 1);
    bump(this.transitions, `${machine} ${from} -> ${to}`, 1);
  }
}

function bump(counts: Map<string, number>, name: string, by: number): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}
