import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bench, manifest, running, until } from '../agent/support/bench.ts';
import type { Bench } from '../agent/support/bench.ts';

const ABSENT = 'registry.example/absent:1';
const names = (count: number) => Array.from({ length: count }, (_, i) => `p${i}`);

/** Calls to pull an image so far, those under way included. */
const pulls = (b: Bench) => b.sim.state.calls.count('PullImage');

/** Waits until so many pods wait for their image. */
const waiting = (b: Bench, count: number) =>
  until(
    `${count} pods to wait for their image`,
    async () => (await b.agent.rows()).filter((r) => r.state === 'syncing.pullingImage').length === count,
    { agent: b.agent },
  );

/** Waits until so many pods say that they wait in the queue. */
const queued = (b: Bench, count: number) =>
  until(
    `${count} pods to wait in the queue`,
    async () => (await b.agent.rows()).filter((r) => r.why.includes(' waits to be pulled since ')).length === count,
    { agent: b.agent },
  );

/** A pod whose pull hangs, so that all others wait in the queue. */
async function hog(b: Bench): Promise<void> {
  b.sim.hang({ match: { rpc: 'PullImage', image: 'registry.example/hung:1' } });
  await b.put('hung.yaml', manifest('hung', {}, { image: 'registry.example/hung:1' }));
  await until('the first pull to hang', () => b.sim.state.hanging > 0);
}

/** Messages of a pod's events of one reason. */
async function told(b: Bench, pod: string, reason: string): Promise<string[]> {
  const events = await b.agent.events();
  return events.filter((e) => e.name === `${pod}-node` && e.reason === reason).map((e) => e.message);
}

test('sixty pods of one absent image make one pull, and all run', async (t) => {
  const b = await bench(t);
  b.sim.hang({ match: { rpc: 'PullImage' } });
  const pods = names(60);
  await b.put('all.yaml', ...pods.map((name) => manifest(name, {}, { image: ABSENT })));
  await waiting(b, 60);
  b.sim.release();
  await running(b, 60);
  assert.equal(pulls(b), 1);
  for (const pod of pods) {
    assert.deepEqual(await told(b, pod, 'Pulling'), [`Pulling image "${ABSENT}"`]);
    const [pulled = '', ...more] = await told(b, pod, 'Pulled');
    assert.match(
      pulled,
      /^Successfully pulled image "registry\.example\/absent:1" in \S+ \(\S+ including waiting\)\. Image size: \d+ bytes\.$/,
    );
    assert.deepEqual(more, []);
  }
  const metrics = await b.agent.metrics();
  assert.match(metrics, /^actorlet_image_pulls_shared_total 59$/m);
  assert.match(metrics, /^kubelet_image_pull_duration_seconds_count\S* 60$/m, 'each of them has waited for its image');
});

test('a pull that fails is told to all of its pods; their next tries share one again', async (t) => {
  const failsOnce = { fail: { code: 'NotFound', message: 'no such manifest' }, times: 1 };
  const b = await bench(t, { script: { images: [{ image: ABSENT, pull: failsOnce }] } });
  await hog(b);
  const pods = names(20);
  await b.put('all.yaml', ...pods.map((name) => manifest(name, {}, { image: ABSENT })));
  await queued(b, 20);
  await b.remove('hung.yaml');
  await running(b, 20);
  assert.equal(pulls(b), 3, 'the one that hung, the one that failed and the one that did not');
  for (const pod of pods) {
    assert.deepEqual(await told(b, pod, 'Failed'), [
      `Failed to pull image "${ABSENT}": rpc error: code = NotFound desc = no such manifest`,
      'Error: ErrImagePull',
      'Error: ImagePullBackOff',
    ]);
    assert.deepEqual(await told(b, pod, 'BackOff'), [`Back-off pulling image "${ABSENT}"`]);
  }
});

test('policy Always: who asks while a pull is under way shares the next one', async (t) => {
  const b = await bench(t);
  b.sim.hang({ match: { rpc: 'PullImage' }, times: 1 });
  const always = (name: string) => manifest(name, {}, { image: ABSENT, imagePullPolicy: 'Always' });
  await b.put('first.yaml', always('first'));
  await until('the first pull to hang', () => b.sim.state.hanging > 0);
  await b.put('others.yaml', ...names(10).map(always));
  await queued(b, 10);
  assert.equal(pulls(b), 1, 'never two at once');
  b.sim.release();
  await running(b, 11);
  assert.equal(pulls(b), 2);
});

test('a pod that is removed while it waits leaves the pull to the others; the last one takes it along', async (t) => {
  const b = await bench(t);
  await hog(b);
  for (const pod of ['stays', 'goes']) await b.put(`${pod}.yaml`, manifest(pod, {}, { image: ABSENT }));
  await b.put('alone.yaml', manifest('alone', {}, { image: 'registry.example/alone:1' }));
  await queued(b, 3);
  for (const pod of ['goes', 'alone']) await b.remove(`${pod}.yaml`);
  await until('both to be gone', async () => (await b.agent.rows()).length === 2, { agent: b.agent });
  // The last one that waits for it goes: the pull itself ends, and the next begins.
  await b.remove('hung.yaml');
  await running(b, 1, (name) => name === 'stays-node');
  assert.equal(pulls(b), 2, 'the one that hung, and the one of who stayed');
  assert.deepEqual(await told(b, 'stays', 'Failed'), []);
});

test('pods whose worker dies ask again for the pull that is under way, and it goes on', async (t) => {
  const b = await bench(t);
  b.sim.hang({ match: { rpc: 'PullImage' } });
  await b.put('all.yaml', ...names(6).map((name) => manifest(name, {}, { image: ABSENT })));
  await waiting(b, 6);
  await b.agent.fault(0, 'exit');
  await until('the worker to be replaced', async () =>
    /actorlet_shard_restarts_total\{shard="0"\} [1-9]/.test(await b.agent.metrics()),
  );
  await waiting(b, 6);
  b.sim.release();
  await running(b, 6);
  assert.equal(pulls(b), 1);
});
