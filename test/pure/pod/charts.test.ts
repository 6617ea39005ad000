import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { containerMachine } from '../../../machines/container/container-machine.ts';
import { podMachine } from '../../../machines/pod/pod-machine.ts';
import { probeMachine } from '../../../machines/probe/probe-machine.ts';

interface Chart {
  leaves: string[];
  edges: { from: string; to: string }[];
}

/** States (leaves) and transitions of a chart; a transition of a parent goes out from each of its leaves. */
function chartOf(machine: AnyStateMachine): Chart {
  const leaves: string[] = [];
  const edges: Chart['edges'] = [];
  const walk = (node: AnyStateNode): string[] => {
    const path = node.path.join('.');
    const children = Object.values(node.states) as AnyStateNode[];
    const own = children.length === 0 ? [path] : children.flatMap(walk);
    if (children.length === 0) leaves.push(path);
    for (const transition of [...[...node.transitions.values()].flat(), ...(node.always ?? [])]) {
      for (const target of transition.target ?? [])
        for (const from of own) edges.push({ from, to: target.path.join('.') });
    }
    return own;
  };
  walk(machine.root);
  return { leaves, edges };
}

/** Leaves that can be reached from the initial one; entering a parent enters its initial leaf. */
function reachable(chart: Chart, initial: (path: string) => string, from: string): Set<string> {
  const found = new Set([from]);
  for (let size = 0; size !== found.size;) {
    size = found.size;
    for (const { from: a, to } of chart.edges) if (found.has(a)) found.add(initial(to));
  }
  return found;
}

const PHASES = ['syncing', 'terminating', 'terminated'];
const phase = (path: string) => PHASES.indexOf(path.split('.')[0] ?? '');

test('no transition of the pod chart goes from a later phase to an earlier one', () => {
  const { edges, leaves } = chartOf(podMachine);
  assert.equal(leaves.length, 26);
  assert.ok(edges.length > 100);
  for (const { from, to } of edges) assert.ok(phase(to) >= phase(from), `${from} -> ${to}`);
});

test('within the phase terminated the pod chart only goes on', () => {
  const order = ['terminated.cleaningUp', 'terminated.kept', 'terminated.removing', 'terminated.finished'];
  for (const { from, to } of chartOf(podMachine).edges) {
    if (from.startsWith('terminated.') && to.startsWith('terminated.'))
      assert.ok(order.indexOf(to) > order.indexOf(from), `${from} -> ${to}`);
  }
});

const machines = [
  ['pod', podMachine, 'syncing.waitingForRuntime', { '': 'syncing.waitingForRuntime' }],
  ['container', containerMachine, 'waiting', { starting: 'starting.checkingImage', stopping: 'stopping.killing' }],
  ['probe', probeMachine, 'idle', {}],
] as const;
for (const [name, machine, first, initial] of machines) {
  test(`every state of the ${name} chart can be reached, and only ends have no way out`, () => {
    const chart = chartOf(machine);
    const into = (path: string) => (initial as Record<string, string>)[path] ?? path;
    assert.deepEqual(
      chart.leaves.filter((s) => !reachable(chart, into, first).has(s)),
      [],
    );
    const stuck = chart.leaves.filter((s) => !chart.edges.some((e) => e.from === s && into(e.to) !== s && e.to !== ''));
    const ends: Record<string, string[]> = { pod: ['terminated.finished'], container: [], probe: [] };
    assert.deepEqual(stuck, ends[name]);
  });
}

test('the tables and lives reach every state of every machine', async () => {
  const { statesReached } = await import('./states-reached.ts');
  const reached = statesReached();
  for (const [name, machine] of machines) {
    assert.deepEqual(
      chartOf(machine).leaves.filter((s) => !reached[name].has(s)),
      [],
      name,
    );
  }
});
