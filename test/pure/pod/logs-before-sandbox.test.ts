import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodWorld, pod } from './pod-world.ts';

test("a removed pod's logs go while its sandbox still tells a new agent of it", () => {
  const world = new PodWorld(pod({}));
  world.run(1_000);
  world.answers['host.RemovePodLogs'] = () => 'hang';
  world.send({ type: 'pod.terminate', at: world.at, order: { reason: 'Removed', message: '' } });
  for (let i = 0; i < 10; i++) {
    world.run(1_000);
    world.pleg();
  }
  assert.equal(world.state, 'terminated.removing');
  assert.deepEqual([world.containers.length, world.sandboxes.length], [0, 1], 'the agent is killed here');

  const next = new PodWorld(pod({}), world.memory, world);
  next.send({ type: 'pod.terminate', at: next.at, order: { reason: 'Removed', message: '' } });
  for (let i = 0; i < 10; i++) {
    next.run(1_000);
    next.pleg();
  }
  assert.ok(next.finished);
  assert.deepEqual([next.count('host.RemovePodLogs'), next.sandboxes.length], [1, 0]);
});
