import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AnyStateMachine } from 'xstate';
import { createMachine } from 'xstate';
import { chartOf, statesOf } from '../../../machines/charts/chart-of.ts';
import { drawnChart } from '../../../machines/charts/drawn-chart.ts';
import { machineConfig } from '../../../machines/charts/machine-config.ts';
import { mermaidOf } from '../../../machines/charts/mermaid.ts';
import { MACHINE_NAMES, NODE_MACHINES } from '../../../machines/charts/node-machines.ts';

for (const name of MACHINE_NAMES) {
  const chart = chartOf(NODE_MACHINES[name]);
  const states = statesOf(chart);
  const paths = new Set(['', ...states.map((s) => s.path)]);

  describe(`the chart of ${name}`, () => {
    it('says of every state what it is for, and joins states that exist', () => {
      assert.equal(chart.id, name);
      assert.ok(states.length >= 2);
      assert.equal(paths.size, states.length + 1, 'a path twice');
      for (const { path, description } of states) assert.match(description, /^[A-Z].*\.$/, path);
      for (const { path, initial, states: inner } of states.filter((s) => s.states.length > 0))
        assert.ok(
          inner.some((s) => s.path === initial),
          path,
        );
      for (const { from, to } of chart.transitions) assert.ok(paths.has(from) && paths.has(to), `${from} -> ${to}`);
      assert.deepEqual(JSON.parse(JSON.stringify(chart)), chart);
    });

    it('as it is drawn loses no transition: each has a line, or is written into a state', () => {
      const { edges, stays, reasons } = drawnChart(chart);
      for (const { from, to, event, why } of chart.transitions) {
        const line = edges.find((e) => e.from === from && e.to === to);
        const lined = line?.labels.includes(event || 'always') === true;
        const stay = from === to && stays[from]?.includes(event || 'always') === true;
        const inside = to.startsWith(`${from}.`);
        const said = why !== undefined && reasons[to]?.includes(why) === true && (line !== undefined || inside);
        assert.ok(lined || stay || said, `${from} -> ${to} on ${event}`);
      }
      assert.ok(edges.length < 70, `${edges.length} lines are no drawing`);
    });

    it('as Mermaid names every state once and opens as many braces as it closes', () => {
      const text = mermaidOf(chart);
      assert.match(text, /^stateDiagram-v2\n/);
      for (const { path } of states)
        assert.equal(
          text.split(` as ${path.replaceAll('.', '_')}`).filter((s) => /^( \{)?\n/.test(s)).length >= 1,
          true,
          path,
        );
      assert.equal(text.split('{\n').length, text.split('}\n').length);
    });

    it('as XState JSON makes a machine with the same states and ways', () => {
      const config = JSON.parse(JSON.stringify(machineConfig(NODE_MACHINES[name]))) as Parameters<
        typeof createMachine
      >[0];
      const again = chartOf(createMachine(config) as unknown as AnyStateMachine);
      assert.deepEqual(again, chart);
    });
  });
}

describe('what is known of the charts', () => {
  it('the moves of the pod are in it: within syncing each state can follow each other, for a reason of its own', () => {
    const chart = chartOf(NODE_MACHINES.pod);
    const rows = chart.transitions.filter((t) => t.from === 'syncing' && t.to.startsWith('syncing.'));
    assert.equal(rows.length, 18);
    assert.equal(new Set(rows.map(({ why }) => why)).size, 18);
    assert.equal(chart.transitions.filter((t) => t.event === '').length, 0);
    const { edges, anyOrder, reasons } = drawnChart(chart);
    assert.deepEqual(anyOrder, ['syncing', 'terminating']);
    assert.equal(edges.filter((e) => e.to.startsWith('syncing.')).length, 0);
    assert.deepEqual(
      edges.filter((e) => !e.from.includes('.')).map((e) => `${e.from} -> ${e.to}`),
      [
        'syncing -> terminating.runningPreStop',
        'syncing -> terminating.stoppingContainers',
        'syncing -> terminating.stoppingSandbox',
        'syncing -> terminating.unpreparingClaims',
        'syncing -> terminated.cleaningUp',
        'terminating -> terminated.cleaningUp',
      ],
    );
    assert.deepEqual(reasons['terminated.removing'], ['its source does not name it any more']);
  });

  it('actions have the names of the functions that decide', () => {
    const text = JSON.stringify(machineConfig(NODE_MACHINES.container));
    for (const action of ['"backedOff"', '"askImagePull"', '"killOrdered"']) assert.ok(text.includes(action), action);
  });
});
