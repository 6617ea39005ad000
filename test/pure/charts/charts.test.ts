import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AnyStateMachine } from 'xstate';
import { createMachine } from 'xstate';
import { chartOf, statesOf } from '../../../machines/charts/chart-of.ts';
import { legibleChart } from '../../../machines/charts/legible-chart.ts';
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

    it('as it is drawn loses no transition: each has a line, a note, or is written into its state', () => {
      const { edges, stays, notes } = legibleChart(chart);
      const within = (inner: string, outer: string) => inner === outer || inner.startsWith(`${outer}.`);
      const parentOf = (path: string) => path.split('.').slice(0, -1).join('.');
      for (const { from, to, event } of chart.transitions) {
        const drawn = edges.some((e) => within(from, e.from) && within(to, e.to) && e.events.includes(event));
        const kept = from === to && stays[from]?.includes(event) === true;
        const noted =
          event === '' &&
          parentOf(from) === parentOf(to) &&
          notes[parentOf(from)]?.some((n) => n.startsWith('Each of'));
        assert.ok(drawn || kept || noted === true, `${from} -> ${to} on ${event}`);
      }
      assert.ok(edges.length < 60, `${edges.length} lines are no drawing`);
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
  it('eventless transitions are in it: within syncing each state can follow each other', () => {
    const always = chartOf(NODE_MACHINES.pod).transitions.filter((t) => t.event === '');
    const syncing = always.filter((t) => t.from.startsWith('syncing.') && t.to.startsWith('syncing.'));
    assert.equal(syncing.length, 16 * 15);
    const { edges, notes } = legibleChart(chartOf(NODE_MACHINES.pod));
    assert.equal(edges.filter((e) => e.from.startsWith('syncing.')).length, 0);
    assert.match(notes['syncing']?.join() ?? '', /Each of these can follow any other/);
    assert.deepEqual(
      edges.filter((e) => !e.from.includes('.')).map((e) => `${e.from}->${e.to}`),
      ['syncing->terminating', 'syncing->terminated', 'terminating->terminated'],
    );
  });

  it('actions have the names of the functions that decide', () => {
    const text = JSON.stringify(machineConfig(NODE_MACHINES.container));
    for (const action of ['"backedOff"', '"askImagePull"', '"killOrdered"']) assert.ok(text.includes(action), action);
  });

  it('an exception to a common way out is in the note', () => {
    const { notes } = legibleChart(chartOf(NODE_MACHINES.container));
    assert.ok(notes['starting']?.includes('changed to waiting: not from creating, started, postStart.'));
  });
});
