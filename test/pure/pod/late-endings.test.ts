import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodWorld, pod } from './pod-world.ts';

/** Ends a container in the runtime; nobody is told. */
function endQuietly(world: PodWorld): void {
  world.containers = world.containers.map((c) => ({ ...c, state: 'exited', exitCode: 1, finishedAt: world.at }));
}

/** What is true now is told by a look that began at `began`. */
function lateLook(world: PodWorld, began: number): void {
  world.send({ type: 'pod.observed', at: world.at + 1, observed: { ...world.observe(), at: began } });
}

test('a list that began before StartContainer was answered, and saw the end, is believed: it is told once only', () => {
  const world = new PodWorld(pod({}));
  while (world.count('cri.StartContainer') === 0) world.run(1);
  const began = world.at;
  world.run(1_000);
  assert.deepEqual(world.running(), ['c']);
  endQuietly(world);
  lateLook(world, began);
  world.run(60_000);
  assert.equal(world.containers.length, 2, 'it was started again');
  assert.deepEqual(world.running(), ['c']);
});

test('a list that took longer than a later look, and saw the end, is believed', () => {
  const world = new PodWorld(pod({}));
  world.run(5_000);
  const began = world.at;
  world.run(1_000);
  world.pleg();
  endQuietly(world);
  lateLook(world, began);
  world.run(60_000);
  assert.equal(world.containers.length, 2);
});

test('a sandbox that ended is seen as late as that', () => {
  const world = new PodWorld(pod({}));
  world.run(5_000);
  const began = world.at;
  world.run(1_000);
  world.pleg();
  endQuietly(world);
  world.sandboxes = world.sandboxes.map((s) => ({ ...s, state: 'notReady' }));
  lateLook(world, began);
  world.run(60_000);
  assert.equal(world.count('cri.RunPodSandbox'), 2);
});

test('of a look that is late, nothing else is taken in: what was removed stays gone, what runs goes on', () => {
  const world = new PodWorld(pod({}));
  while (world.containers.length === 0) world.run(1);
  const early = world.observe();
  world.run(5_000);
  world.pleg();
  const { observed } = world.snapshot.context;
  world.send({ type: 'pod.observed', at: world.at, observed: early });
  assert.equal(world.snapshot.context.observed, observed);
});
