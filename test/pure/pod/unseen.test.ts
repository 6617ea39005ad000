import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pod, PodWorld } from './pod-world.ts';

const FAILED = 'FailedSync: error determining status: rpc error: code = Internal desc = no answer';

test('that the runtime does not say what it holds of a pod is told each time, in kubelet’s words, until it does', () => {
  const world = new PodWorld(pod({}));
  world.run(2_000);
  const told = () => world.events.filter((line) => line === FAILED).length;
  const unseen = () => {
    const error = { code: 'Internal', message: 'no answer' };
    world.send({ type: 'pod.unseen', at: world.at, error });
  };
  unseen();
  const since = world.at;
  assert.equal(told(), 1);
  world.run(10_000);
  unseen();
  assert.equal(told(), 2);
  assert.equal(world.snapshot.context.unseen?.since, since);
  assert.equal(world.status?.phase, 'Running', 'what was seen last counts on');
  world.pleg();
  assert.equal(world.snapshot.context.unseen, undefined);
});
