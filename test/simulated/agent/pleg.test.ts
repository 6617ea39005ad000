import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { bench, containerOf, manifest, running, until } from './support/bench.ts';
import type { Bench } from './support/bench.ts';

/** A container ends; resolves when the agent has made its successor. */
async function exitIsSeen(b: Bench, pod: string): Promise<void> {
  const before = containerOf(b.sim, pod);
  assert.ok(before !== undefined);
  b.sim.exitContainer(before.id, 0);
  await until('a new container', () => containerOf(b.sim, pod)?.id !== before.id, { agent: b.agent });
  await running(b, 1, (name) => name === `${pod}-node`);
}

/** How often everything was listed (looks at one pod have a label selector and count as well, hence few pods). */
const lists = (b: Bench) => b.sim.state.calls.count('ListPodSandbox');

test('with events an exit is seen without a relist', async (t) => {
  const b = await bench(t, { settings: { journalDir: null } });
  await b.put('p.yaml', manifest('p'));
  await running(b, 1);
  // The stream has settled when relists have become rare.
  await until('relists to end', async () => {
    const before = lists(b);
    await sleep(2_500);
    return lists(b) === before;
  });
  assert.equal(b.sim.state.eventStreams, 1);
  await exitIsSeen(b, 'p');
});

test('without events the generic PLEG sees an exit, and relists each second', async (t) => {
  const script = { runtime: { supportsEvents: false } };
  const b = await bench(t, { script, settings: { journalDir: null } });
  await b.put('p.yaml', manifest('p'));
  await running(b, 1);
  const before = lists(b);
  await until('more relists', () => lists(b) > before + 2);
  await exitIsSeen(b, 'p');
  assert.equal(b.sim.state.eventStreams, 0);
});

test('the event stream ends: relists take over, and give way again when it is back', async (t) => {
  const b = await bench(t, { settings: { journalDir: null } });
  await b.put('p.yaml', manifest('p'));
  await running(b, 1);
  await until('a stream', () => b.sim.state.eventStreams === 1);
  b.sim.setEvents(false);
  await until('no stream', () => b.sim.state.eventStreams === 0);
  await exitIsSeen(b, 'p');
  b.sim.setEvents(true);
  await until('a stream again', () => b.sim.state.eventStreams === 1);
  await until('relists to end', async () => {
    const before = lists(b);
    await sleep(2_500);
    return lists(b) === before;
  });
  const before = containerOf(b.sim, 'p');
  b.sim.exitContainer(before?.id ?? '', 0);
  // The second exit within the back-off: it is seen, though the container waits.
  await until('CrashLoopBackOff', async () => (await b.agent.rows())[0]?.state === 'syncing.crashLoopBackOff');
});

test('what happened while no stream was open is not lost', async (t) => {
  const b = await bench(t, { settings: { journalDir: null } });
  await b.put('p.yaml', manifest('p'));
  await running(b, 1);
  b.sim.setEvents(false);
  const before = containerOf(b.sim, 'p');
  b.sim.exitContainer(before?.id ?? '', 0);
  b.sim.setEvents(true);
  await until('a new container', () => containerOf(b.sim, 'p')?.id !== before?.id, { agent: b.agent });
});

test("kubelet's default, the gate EventedPLEG off: events are not asked for", async (t) => {
  const b = await bench(t, { settings: { journalDir: null }, config: { featureGates: {} } });
  await b.put('p.yaml', manifest('p'));
  await running(b, 1);
  const before = lists(b);
  await until('more relists', () => lists(b) > before + 2);
  assert.equal(b.sim.state.eventStreams, 0);
  assert.equal(b.sim.state.calls.count('GetContainerEvents'), 0);
});

test('beside events the gauges of what runs follow without a list, and PLEG stays healthy', async (t) => {
  const b = await bench(t, { settings: { journalDir: null } });
  await until('relists to end', async () => {
    const before = lists(b);
    await sleep(2_500);
    return lists(b) === before;
  });
  const gauge = async (line: string) => (await b.agent.metrics()).split('\n').includes(line);
  await b.put('p.yaml', manifest('p'));
  await until('a running container', () => gauge('kubelet_running_containers{container_state="running"} 1'));
  assert.ok(await gauge('kubelet_running_pods 1'));
  assert.ok(await gauge('kubelet_evented_pleg_connection_success_count 1'));
  await b.remove('p.yaml');
  await until('none', () => gauge('kubelet_running_containers{container_state="running"} 0'));
  await until('no pod', () => gauge('kubelet_running_pods 0'));
});
