import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pod, PodWorld } from './pod-world.ts';

test('a container that is being stopped for another reason gets no more time than the pod that ends meanwhile', () => {
  const spec = (image: string) => ({
    terminationGracePeriodSeconds: 30,
    containers: [{ name: 'c', image, lifecycle: { preStop: { sleep: { seconds: 20 } } } }],
  });
  const world = new PodWorld(pod(spec('img:1')));
  world.run(2_000);
  assert.deepEqual(world.running(), ['c']);
  world.send({ type: 'pod.update', at: world.at, pod: pod(spec('img:2')) });
  world.run(1_000);
  assert.equal(world.count('cri.StopContainer'), 0, 'the hook runs');
  const asked = world.at;
  world.send({
    type: 'pod.terminate',
    at: world.at,
    order: { reason: 'Deleted', message: '', gracePeriodSeconds: 1 },
  });
  while (world.count('cri.StopContainer') === 0 && world.at < asked + 60_000) world.run(100);
  assert.ok(world.at <= asked + 2_000, `stopped ${world.at - asked} ms after it was asked with 1 s`);
  const [stop] = world.effects.filter((effect) => effect.type === 'cri.StopContainer');
  assert.equal(
    stop?.type === 'cri.StopContainer' && stop.params.timeoutSeconds,
    2,
    'the least that a runtime is given',
  );
});
