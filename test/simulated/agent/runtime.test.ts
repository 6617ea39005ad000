import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bench, containerOf, manifest, running, until } from './support/bench.ts';
import type { Bench } from './support/bench.ts';

const ids = (b: Bench) => [...b.sim.state.containers.keys()].sort();
const stateOf = async (b: Bench, pod: string) => (await b.agent.rows()).find((r) => r.name === `${pod}-node`)?.state;

for (const supportsEvents of [true, false]) {
  test(`the runtime restarts (events: ${supportsEvents}): the pods go on and are seen again`, async (t) => {
    const b = await bench(t, { script: { runtime: { supportsEvents } }, settings: { journalDir: null } });
    await b.put('p.yaml', manifest('a'), manifest('b'), manifest('c'));
    await running(b, 3);
    const before = ids(b);
    await b.sim.restart({ downMs: 4_000 });
    await b.put('d.yaml', manifest('d'));
    await running(b, 4);
    assert.deepEqual(
      ids(b).filter((id) => before.includes(id)),
      before,
    );
    assert.equal(b.sim.state.containers.size, 4);
    // They are seen again: an exit makes a successor.
    b.sim.exitContainer(containerOf(b.sim, 'a')?.id ?? '', 0);
    await until('a successor', () => containerOf(b.sim, 'a')?.metadata.attempt === 1, { agent: b.agent });
  });
}

test('the runtime restarts and all processes are lost: every pod is made anew', async (t) => {
  const b = await bench(t, { settings: { journalDir: null } });
  await b.put('p.yaml', manifest('a'), manifest('b'));
  await running(b, 2);
  const before = ids(b);
  await b.sim.restart({ downMs: 1_000, keepContainers: false });
  await until('new containers', () => ['a', 'b'].every((pod) => !before.includes(containerOf(b.sim, pod)?.id ?? '')), {
    agent: b.agent,
  });
  await running(b, 2);
});

test('the network is not ready: new pods wait for it, running ones and those on the host network do not', async (t) => {
  const b = await bench(t, { settings: { journalDir: null } });
  await b.put('a.yaml', manifest('a'));
  await running(b, 1);
  const before = ids(b);
  b.sim.setReady('NetworkReady', { reason: 'NetworkPluginNotReady', message: 'cni plugin not initialized' });
  const problem = 'the agent to know';
  await b.put('new.yaml', manifest('new'), manifest('host', { hostNetwork: true }));
  // The first try may come before the agent has looked at the runtime: then the pod is there already.
  await until(problem, async () => {
    const state = await stateOf(b, 'new');
    if (state !== 'syncing.running') return state === 'syncing.waitingForNetwork';
    await b.remove('new.yaml');
    await until('gone', async () => (await b.agent.rows()).length === 1);
    await b.put('new.yaml', manifest('new'), manifest('host', { hostNetwork: true }));
    return false;
  });
  await running(b, 1, (name) => name === 'host-node');
  assert.equal(await stateOf(b, 'a'), 'syncing.running');
  const events = await b.agent.events();
  const event = events.find((e) => e.reason === 'NetworkNotReady' && e.name === 'new-node');
  assert.equal(
    event?.message,
    'network is not ready: container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized',
  );
  b.sim.setReady('NetworkReady', null);
  await running(b, 3);
  assert.deepEqual(
    ids(b).filter((id) => before.includes(id)),
    before,
  );
});

test('the runtime is not ready: pods wait for it, and nothing is restarted afterwards', async (t) => {
  const b = await bench(t, { settings: { journalDir: null } });
  await b.put('a.yaml', manifest('a'));
  await running(b, 1);
  const before = ids(b);
  b.sim.setReady('RuntimeReady', { reason: 'Starting', message: 'not yet' });
  await until('the running pod to know', async () => (await stateOf(b, 'a')) === 'syncing.waitingForRuntime');
  await b.put('new.yaml', manifest('new'));
  await until('the new pod to wait', async () => (await stateOf(b, 'new')) === 'syncing.waitingForRuntime');
  assert.equal(b.sim.state.sandboxes.size, 1);
  b.sim.setReady('RuntimeReady', null);
  await running(b, 2);
  assert.deepEqual(
    ids(b).filter((id) => before.includes(id)),
    before,
  );
  assert.equal(b.sim.state.containers.size, 2);
});
