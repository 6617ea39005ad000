import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pod, PodWorld } from './pod-world.ts';

const REFUSED = { error: { code: 'Unknown', message: 'network plugin is busy' } };

test('a sandbox that could not be made is not told once the pod is to end', () => {
  const world = new PodWorld(pod({}), null, undefined, false, 'api');
  world.answers['cri.RunPodSandbox'] = () => REFUSED;
  world.delayMs = 1_000;
  world.begin(null, false);
  while (!world.effects.some(({ type }) => type === 'cri.RunPodSandbox')) world.run(100);
  const order = { reason: 'Deleted', message: '', gracePeriodSeconds: 30 };
  world.send({ type: 'pod.terminate', at: world.at, order });
  world.run(60_000);
  assert.match(world.state, /^terminated/);
  assert.deepEqual(
    world.events.filter((e) => e.startsWith('FailedCreatePodSandBox')),
    [],
  );
});

test('before that it is', () => {
  const world = new PodWorld(pod({}), null, undefined, false);
  world.answers['cri.RunPodSandbox'] = () => REFUSED;
  world.begin(null, false);
  world.run(500);
  assert.deepEqual(
    world.events.filter((e) => e.startsWith('FailedCreatePodSandBox')),
    ['FailedCreatePodSandBox: Failed to create pod sandbox: rpc error: code = Unknown desc = network plugin is busy'],
  );
});
