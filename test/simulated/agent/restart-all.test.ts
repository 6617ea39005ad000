import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bench, containerOf, IMAGE, manifest, running, until } from './support/bench.ts';

const GATES = { NodeDeclaredFeatures: true, RestartAllContainersOnContainerExits: true };

/** `a` restarts all when it ends with 42; `b` runs beside it. */
const POD = manifest('p', {
  restartPolicy: 'Never',
  containers: [
    {
      ...{ name: 'a', image: IMAGE, restartPolicy: 'Never' },
      restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }],
    },
    { name: 'b', image: IMAGE },
  ],
});

test('the gates have a container that ends by a rule restart all of its pod in its sandbox', async (t) => {
  const b = await bench(t, { config: { featureGates: GATES } });
  await b.put('p.yaml', POD);
  await running(b, 1);
  const first = [containerOf(b.sim, 'p', 'a'), containerOf(b.sim, 'p', 'b')];
  b.sim.exitContainer(first[0]?.id ?? '', 42);
  const next = await until(
    'both containers made anew',
    () => {
      const now = [containerOf(b.sim, 'p', 'a'), containerOf(b.sim, 'p', 'b')];
      return now.every((each, i) => each !== undefined && each.id !== first[i]?.id) ? now : null;
    },
    { agent: b.agent },
  );
  await running(b, 1);
  assert.deepEqual(
    next.map((each) => [each?.config.metadata?.attempt, each?.sandbox.id === first[0]?.sandbox.id]),
    [
      [1, true],
      [1, true],
    ],
  );
  for (const old of first) assert.equal(b.sim.state.containers.has(old?.id ?? ''), false, 'the old ones are removed');
});

test('with the gates off such a static pod is none', async (t) => {
  const b = await bench(t);
  await b.put('p.yaml', POD, manifest('q'));
  await b.put('q.yaml', manifest('q'));
  await running(b, 1);
  assert.equal(containerOf(b.sim, 'p', 'a'), undefined);
});
