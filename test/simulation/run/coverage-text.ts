import { containerMachine } from '../../../machines/container/container-machine.ts';
import { podMachine } from '../../../machines/pod/pod-machine.ts';
import { probeMachine } from '../../../machines/probe/probe-machine.ts';
import type { Coverage } from './coverage.ts';

interface Node {
  key: string;
  path: string[];
  states: Record<string, Node>;
}

/** All leaf states of the machines that the simulation looks at, as `pod syncing.running`. */
export function allStates(): string[] {
  const machines = { pod: podMachine, container: containerMachine, probe: probeMachine } as unknown as Record<
    string,
    { root: Node }
  >;
  return Object.entries(machines).flatMap(([name, { root }]) => leaves(root).map((path) => `${name} ${path}`));
}

function leaves({ states, path }: Node): string[] {
  const children = Object.values(states);
  return children.length === 0 ? [path.join('.')] : children.flatMap(leaves);
}

/** What was reached, in a few lines or in full. */
export function coverageText(coverage: Coverage, full: boolean): string {
  const all = allStates();
  const missed = all.filter((state) => !coverage.states.has(state));
  const lines = [
    `states: ${all.length - missed.length} of ${all.length}${missed.length > 0 ? `; not reached: ${missed.join(', ')}` : ''}`,
    `transitions: ${coverage.transitions.size}`,
    `faults: ${[...coverage.faults.keys()].sort().join(', ') || 'none'}`,
  ];
  if (full)
    for (const part of [coverage.states, coverage.transitions, coverage.faults])
      for (const [name, count] of [...part].sort(([a], [b]) => (a < b ? -1 : 1))) lines.push(`  ${count}\t${name}`);
  return lines.join('\n');
}
