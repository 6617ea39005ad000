import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bench, IMAGE, manifest, running, until } from './support/bench.ts';
import { HUNG, HUNG_CASES, OTHERS, startTimes } from './support/hung-pod-cases.ts';

// How late they start beside it is measured by bin/bench hung-pod.
for (const [name, { config, hungPod, hang }] of Object.entries(HUNG_CASES)) {
  test(`a pod hangs in ${name}: the others start and end all the while`, async (t) => {
    const b = await bench(t, { ...(config !== undefined && { config }), settings: { journalDir: null } });
    const putHung = b.put('hung.yaml', hungPod);
    await hang(b);
    await putHung;
    await until('a call to hang', () => b.sim.state.hanging > 0);
    for (const round of [1, 2]) await startTimes(b, round);
    assert.ok(b.sim.state.hanging > 0, 'it hangs all the while');
    b.sim.release();
    await b.remove('hung.yaml').catch(() => undefined);
    await until('the pod to be gone', async () => (await b.agent.tracked()) === 0, { agent: b.agent });
  });
}

test('pulls in turn wait for a hung pull, as those of kubelet do, and go on after it', async (t) => {
  const b = await bench(t, { settings: { journalDir: null } });
  b.sim.hang({ match: { rpc: 'PullImage', image: 'registry.example/hung:1' } });
  await b.put('hung.yaml', manifest(HUNG, {}, { image: 'registry.example/hung:1' }));
  await until('the pull to hang', () => b.sim.state.hanging > 0);
  await b.put(
    'others.yaml',
    manifest('other', {}, { image: 'registry.example/other:1' }),
    manifest('local', {}, { image: IMAGE }),
  );
  await running(b, 1, (name) => name === 'local-node');
  await until('the other to wait for its pull', async () =>
    (await b.agent.rows()).some((r) => r.name === 'other-node' && r.state === 'syncing.pullingImage'),
  );
  assert.equal(b.sim.state.calls.count('PullImage'), 1);
  b.sim.release();
  await running(b, 3);
});

test('an agent that starts while a running pod does not answer: the others are taken over and go on', async (t) => {
  const b = await bench(t);
  await b.put('hung.yaml', manifest(HUNG));
  await b.put('others.yaml', ...Array.from({ length: OTHERS }, (_, i) => manifest(`p${i}`)));
  await running(b, OTHERS + 1);
  const before = [...b.sim.state.containers.keys()].sort();
  await b.agent.kill();
  b.sim.hang({ match: { rpc: 'ContainerStatus', pod: `${HUNG}-node` } });
  await b.restart();
  await running(b, OTHERS, (name) => name.startsWith('p'));
  await b.put('new.yaml', manifest('new'));
  await running(b, 1, (name) => name === 'new-node');
  const hung = (await b.agent.rows()).find((r) => r.name === `${HUNG}-node`);
  assert.notEqual(hung?.state, 'syncing.running', 'nobody has seen it yet');
  assert.equal(b.sim.state.calls.count('RunPodSandbox'), OTHERS + 2, 'it is not made a second time meanwhile');
  b.sim.release();
  await running(b, OTHERS + 2);
  const after = [...b.sim.state.containers.values()].filter((c) => c.sandbox.metadata.name !== 'new-node');
  assert.deepEqual(after.map((c) => c.id).sort(), before);
});
